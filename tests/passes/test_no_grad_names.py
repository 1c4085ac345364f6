"""Under `torch.no_grad()` only what is computed there is constant: other names for a tensor keep its gradient, views do not."""

import pytest

from transpile import convert_source

from ..small_programs import compare, source_of, three

pytestmark = pytest.mark.usefixtures("wide")

# A body of `def f(x, y)`: `gt` has a gradient, and the lines stand under no_grad; "-> " gives what is returned.
NAMES = {
    "a name": "y = gt -> y * x",
    "names in a row": "z = gt; w = z -> w * y",
    "two at once": "a = b = gt -> a * b * y",
    "a tuple": "a, b = gt, y -> a * b",
    "a tuple, one computed": "a, b = gt, y * 2 -> a * b * x",
    "swapped": "a, b = gt, y * 3; a, b = b, a -> a * a * b * x",
    "conditional": "a = gt if x.dim() == 2 else y -> a * y",
    "conditional, one computed": "a = gt if x.dim() == 3 else y * 3 -> a * y * x",
    "conditional on data": "a = gt if x.sum() > 0 else y -> a * y",
    "conditional on data, one computed": "a = gt if x.sum() > 0 else y * 2 -> a * x",
    "or": "a = None or gt -> a * y",
    "of a list": "zs = [gt, y]; a = zs[0]; b = zs -> a * b[1]",
    "of a dict": "d = {'a': gt}; a = d['a'] -> a * y",
    "into a list": "zs = [gt, y * 2] -> zs[0] * zs[1] * y",
    "by a comprehension": "zs = [t for t in (gt, y)] -> zs[0] * zs[1]",
    "computed by a comprehension": "zs = [t * 2 for t in (gt, y)] -> zs[0] * zs[1] * x",
    "to a device": "a = gt.to('cpu'); b = gt.to(y.device); c = gt.cpu() -> a * b * c",
    "asked for a gradient": "a = gt.detach().requires_grad_(); b = gt.requires_grad_() -> a * b * y",
    "an index": "a = gt[0] -> a * y",
    "a view": "a = gt.view(-1); b = gt.reshape(4, 6); c = gt.T -> a.view(4, 6) * b * c.T * y",
    "squeezed, expanded": "a = gt.squeeze(); b = gt.expand(4, 6) -> a * b * y",
    "rows": "a, *rest = gt -> a * rest[0] * y",
    "rows of a loop": "for z in gt: w = z -> w * y * z",
    "elements of a list": "for z in (gt, y): w = z -> w * y * z",
    "a cast to what it is": "a = gt.double(); b = gt.to(y.dtype); c = gt.type_as(y) -> a * b * c",
    "a cast": "a = gt.float() -> a * x",
    "a lambda": "h = lambda t: t; z = h(gt) -> z * y",
}  # fmt: skip
PROGRAMS = {
    "an attribute": "class Box:\n    def __init__(self, v):\n        self.v = v\n\ndef f(x, y):\n    b = Box(x * 2)\n    c = Box(None)\n    with torch.no_grad():\n        c.v = b.v\n        b.w = x\n        z = b.v\n    return c.v * y * b.w * z",
    "a method of an object": "class Box:\n    def __init__(self, v):\n        self.v = v\n\n    def get(self):\n        return self.v\n\ndef f(x, y):\n    b = Box(x)\n    with torch.no_grad():\n        z = b.get()\n    return z * y",
    "a function that gives it back": "def g(t):\n    u = t\n    return u\n\ndef f(x, y):\n    with torch.no_grad():\n        z = g(x)\n    return z * y",
    "a decorated one": "@torch.no_grad()\ndef g(t):\n    return t\n\ndef f(x, y):\n    return g(x * 2) * y",
    "a decorated one, on some ways": "@torch.no_grad()\ndef g(t, n=2):\n    u = t\n    if n == 3:\n        u = u * 2\n    return u\n\ndef f(x, y):\n    return g(x * 2) * y + g(x, 3) * y",
    "a default": "def g(t, u=None):\n    with torch.no_grad():\n        u = t if u is None else u\n    return u * t\n\ndef f(x, y):\n    return g(x) + g(x, y) * y",
    "under a flag": "def g(t, on):\n    with torch.set_grad_enabled(on):\n        z = t\n        w = t * 2\n    return z * w * t\n\ndef f(x, y):\n    return g(x, True) + g(y, False)",
    "in turns": "z = x * 2\nwith torch.no_grad():\n    for i in range(3):\n        w = z\n        z = w * 2\nreturn w * y * z * x",
    "set again": "z = x * 3\nwith torch.no_grad():\n    z = x * 2\n    q = z\n    z = x\nreturn z * q * y",
    "in a branch": "gt = x * 2\nwith torch.no_grad():\n    if x.sum() > 0:\n        a = gt\n    else:\n        a = y * 2\nreturn a * y",
    "inference": "@torch.inference_mode()\ndef g(t):\n    return t\n\ndef f(x, y):\n    return g(x) * y.detach()",
}  # fmt: skip
# What may be the tensor itself or something computed, which only the run tells: said at the line.
REPORTED = {
    "contiguous": "a = gt.contiguous() -> a * y",
    "dropout": "z = F.dropout(gt, 0.5, x.dim() == 3) -> z * y",
    "flattened": "z = gt.flatten(1) -> z * y",
}
OTHER_REPORTED = {
    "a function on some ways": "def g(t, n):\n    if n > 2:\n        return t * 2\n    return t\n\ndef f(x, y):\n    with torch.no_grad():\n        z = g(x, 3)\n    return z * y",
}  # fmt: skip


def body(lines):
    """The program of a row of NAMES."""
    inside, result = lines.split(" -> ")
    block = "".join(f"    {line}\n" for line in inside.split("; "))
    return f"gt = x * 2\nwith torch.no_grad():\n{block}return {result}"


@pytest.mark.parametrize("name", [*NAMES, *PROGRAMS])
def test_gradients(name):
    compare(body(NAMES[name]) if name in NAMES else PROGRAMS[name], three())


@pytest.mark.parametrize("name", [*REPORTED, *OTHER_REPORTED])
def test_what_only_the_run_tells_is_reported(name):
    program = body(REPORTED[name]) if name in REPORTED else OTHER_REPORTED[name]
    source = source_of(program)
    found = convert_source(source).diagnostics
    assert [d.id for d in found] == ["taken-for-granted"]
    line = source.splitlines()[found[0].line - 1]
    assert "gt." in line or "dropout" in line or "g(x" in line, line
