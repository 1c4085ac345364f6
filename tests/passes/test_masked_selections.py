"""What a mask selects, kept whole where it is only reduced: the pass alone, in torch's words; what
takes a mask shows its mark, `torch.mean[mask](x, m)`."""

import pytest

from tests.passes.solved import Facts, Project, PurePosixPath, lower, spell, write
from transpile.facts.memory import Memory
from transpile.facts.values.lattice import Torch
from transpile.model.expressions import Call, Name, Subscript
from transpile.passes.masked_selections import PASSES

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass M(nn.Module):\n"
FORWARD = "    def forward(self, x: torch.Tensor, y: torch.Tensor):\n"

# each with what comes out
KEPT_WHOLE = {
    "reduced": ("return x[x > 0].sum()", "return torch.sum[mask](x, x > 0)"),
    "an expression": (
        "m = y > 0\nreturn (x - y)[m].mean()",
        "m = y > 0\nreturn torch.mean[rows](x - y, m)",
    ),
    "through a name": (
        "d = x[x > 0]\nreturn (d**2).mean() + d.abs().sum()",
        "mask = x > 0\nd = torch.where(mask, x, 0)\n"
        "return torch.mean[mask](d**2, mask) + torch.sum[mask](d.abs(), mask)",
    ),
    "a safe number": (
        "d = x[x > 0]\nreturn d.log().sum()",
        "mask = x > 0\nd = torch.where(mask, x, 1)\nreturn torch.sum[mask](d.log(), mask)",
    ),
    "a loss": (
        "m = x > 0\nreturn F.l1_loss(x[m], (x * 2)[m])",
        "m = x > 0\nreturn torch.mean[mask](torch.abs(torch.where(m, x - x * 2, 0)), m)",
    ),
    "ranks are asserted": (
        "m = y > 0\nreturn (x[m] - y[m]).sum()",
        "m = y > 0\nassert x.ndim == y.ndim\nreturn torch.sum[mask](x - y, m)",
    ),
    "as many": (
        "m = x > 0\nd = x[m]\nreturn d.sum() / max(d.numel(), 1)",
        "m = x > 0\nd = torch.where(m, x, 0)\nreturn torch.sum[mask](d, m) / max(torch.sum(m), 1)",
    ),
    "stored": (
        "x = x.clone()\nm = y > 0\nx[m] = x[m] / y[m]\nreturn x",
        "x = x.clone()\nm = y > 0\nassert x.ndim == y.ndim\n"
        "x[m] = (torch.where(m, x, 0) / torch.where(m, y, 1))[m]\nreturn x",
    ),
    "stored in place": (
        "x = x.clone()\nm = x > 0\nx[m] += y[m]\nreturn x",
        "x = x.clone()\nm = x > 0\nx[m] += y[m]\nreturn x",
    ),
    "whole dims": ("x = x.clone()\nx[y.sum(1) > 0, :] *= 2\nreturn x", "x = x.clone()\nx[y.sum(1) > 0] *= 2\nreturn x"),
    "bytes": ("m = (x > 0).byte()\nreturn x[m, :].sum()", "m = (x > 0).byte()\nreturn torch.sum[mask](x, m != 0)"),
}  # fmt: skip

# each with what comes out, of indices
FILLED_UP = {
    "written back": (
        "out = torch.zeros_like(x)\nfor i in range(2):\n    r, k = torch.where(y == i)\n"
        "    out[r] += x[r].exp() * y[r, k, None]\nreturn out",
        "torch.where[padded](y == i)",
    ),
    "the first of the indices": (
        "out = torch.zeros_like(x)\nr = torch.where(y > 0)[0]\nif len(r) > 0:\n    z = x[r] * 2\n    out[r] = z\nreturn out",
        "torch.where[padded](y > 0)[0]",
    ),
    "added": (
        "out = torch.zeros_like(x)\nfor i in range(2):\n    r, k = (y == i).nonzero(as_tuple=True)\n"
        "    if r.numel() == 0:\n        continue\n    s = x[None, r].reshape(-1, 3)\n    s = s * 2\n"
        "    out.index_add_(0, r, s)\nreturn out",
        "torch.where[padded](y == i)",
    ),
}
# each stays as it is, since something else is made of the rows
NOT_FILLED_UP = {
    "a tuple": "out = torch.zeros_like(x)\nr = torch.where(y > 0)\nout[r] = x[r]\nreturn out",
    "reduced": "out = torch.zeros_like(x)\nr, k = torch.where(y > 0)\nout[r] = x[r] - x[r].mean()\nreturn out",
    "read on": "out = torch.zeros_like(x)\nr, k = torch.where(y > 0)\nout[r] = x[r]\nreturn out, r",
    "other places": "out = torch.zeros_like(x)\nr, k = torch.where(y > 0)\nout[k] = x[r]\nz = k[0]\nreturn out",
    "of the turn before": (
        "out = torch.zeros_like(x)\ns = x\nfor i in range(2):\n    r, k = torch.where(y == i)\n"
        "    out = out + s.sum()\n    s = x[r]\n    out[r] = s\nreturn out"
    ),
    "counted": (
        "out = torch.zeros_like(x)\nr, k = torch.where(y > 0)\nif len(r) > 1:\n    out[r] = x[r]\nreturn out"
    ),
    "not stored": "r, k = torch.where(y > 0)\nz = x[r] * 2\nreturn x",
}

# each stays as it is, with all that it meets
LEFT = {
    "returned": "d = x[x > 0]\nreturn d.mean(), d",
    "in order": "d = x[x > 0]\nreturn d.cumsum(0).mean() + d.mean()",
    "two masks": "m, n = x > 0, y > 0\nreturn (x[m] - y[n]).mean()",
    "a mask bound anew": "m = x > 0\nd = x[m]\nm = y > 0\nreturn d.sum() + (d - y[m]).sum()",
    "a mask written": "m = x > 0\nd = x[m]\nm[0] = False\nreturn d.abs().sum()",
    "of the turn before": (
        "s = 0\nd = x\nfor i in range(2):\n    s = s + d.exp().sum()\n    d = x[x > i]\nreturn s"
    ),
    "a mask of another turn": (
        "s = 0\nfor i in range(2):\n    m = x > i\n    if i > 0:\n        s = s + d.sum()\n"
        "    d = x[m]\nreturn s"
    ),
    "met with a tensor": "d = x[x > 0]\nreturn (d * y).sum()",
    "on one way": "d = x\nif len(x) > 2:\n    d = x[x > 0]\nreturn d.sum()",
    "a count that is a size": "d = x[x > 0]\nreturn torch.zeros(len(d)).sum() + d.sum()",
}


def converted(body):
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    project, path = Project(), PurePosixPath("module.py")
    file = project.add(path, lower(HEAD + FORWARD + lines, path))
    project.link()
    facts = Facts(project)
    facts.memory = Memory(facts.calls, facts.rulebook)
    for one in PASSES:
        for scope in list(file.scopes()):
            one.run(scope, facts).commit()
    for node in list(file.walk()):
        if isinstance(node, Call) and isinstance(node.function.value, Torch):
            _, _, mark = node.function.value.name.partition("[")
            if mark:
                node.function.wrap(lambda f, mark=mark: Subscript(f, Name(mark.rstrip("]"))))
    spell(file)
    made = write(file).partition(FORWARD)[2]
    return "\n".join(line.removeprefix("        ") for line in made.rstrip("\n").splitlines())


@pytest.mark.parametrize("name", KEPT_WHOLE)
def test_kept_whole(name):
    before, after = KEPT_WHOLE[name]
    assert converted(before) == after


@pytest.mark.parametrize("name", LEFT)
def test_left(name):
    assert converted(LEFT[name]) == LEFT[name]


@pytest.mark.parametrize("name", FILLED_UP)
def test_filled_up(name):
    before, after = FILLED_UP[name]
    assert after in converted(before)


@pytest.mark.parametrize("name", NOT_FILLED_UP)
def test_not_filled_up(name):
    assert converted(NOT_FILLED_UP[name]) == NOT_FILLED_UP[name]
