"""What a mask selects stays whole where it is only reduced; any other use of it leaves the selection, which is reported."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import transpile
from transpile import convert_source

from ..small_programs import HEAD, both, both_modules, compare, leaves, source_of, three

pytestmark = pytest.mark.usefixtures("wide")

# Each leaves no index by a mask.
PROGRAMS = {
    "through a name": "d = (x - y)[x > 0]\nreturn (d ** 2).mean() + d.abs().sum()",
    "rebound": "valid = (x > 0).detach()\nd = x - y\nd = d[valid]\nloss = d.abs().mean()\nreturn loss",
    "two by one mask": "valid = (x > 0).detach()\nd = torch.log(x[valid]) - torch.log(y[valid].exp())\nreturn torch.sqrt(torch.pow(d, 2).mean() - 0.5 * torch.pow(d.mean(), 2))",
    "bound one after the other": "m = x > 0\nx = x[m]\ny = y[m]\nreturn F.smooth_l1_loss(x, y, reduction='sum')",
    "bound together": "m = x > 0\np, t = x[m], y[m]\nreturn F.mse_loss(p, t) + (p - t).abs().sum()",
    "a loss of both": "m = x > 0\nreturn F.l1_loss(x[m], y[m])",
    "a loss with a number outside": "m = x > 0\nreturn F.binary_cross_entropy(torch.sigmoid(x)[m], torch.sigmoid(y)[m])",
    "masked_select": "m = x != 0\nreturn F.l1_loss(torch.masked_select(x, m), y.masked_select(m))",
    "masked_select broadcasts": "m = (x.abs() > 0.1)[:, :1]\nreturn torch.masked_select(x, m).sum() / torch.masked_select(x, m).numel()",
    "two masks": "d = (x - y).abs()\nd1 = d[d < 1.0]\nd2 = d[d >= 1.0]\nl1 = 10.0 * torch.log(1 + d1 / 2.0)\nl2 = d2 - 0.5\nreturn (l1.sum() + l2.sum()) / (len(l1) + len(l2))",
    "a mask of another": "return torch.log(torch.clamp(x[y > 0], min=1e-12)).sum() / (y > 0).sum()",
    "divided": "m = y > 0\nreturn (x[m] / y[m]).mean()",
    "a number over": "m = y > 0\nreturn (1 / y[m]).sum()",
    "centred": "d = x[x > 0]\nd = d - d.mean()\nreturn (d ** 2).sum() + d.abs().sum()",
    "compared": "m = y > 0\nreturn (x[m] > y[m]).double().sum() + x[m].sum()",
    "spread": "d = x[y > -9]\nreturn d.std() + d.var() + d.max() - d.min() + d.norm() + d.any()",
    "rows": "m = x.sum(1) > y.sum(1)\nd = x[m] - y[m]\nreturn (d ** 2).mean() + d.shape[0] + d.numel() + len(d)",
    "rows with whole dims": "m = x.sum(1) > y.sum(1)\nz = y.clone()\nz[m, :] = 2.0\nreturn x[m, :].exp().sum() + x[m, ...].mean() + z",
    "rows under asserts": "assert x.dim() == y.dim()\nm = x > -9\nreturn (x[m] * y[m]).sum()",
    "as many": "m = x > 0\nd = x[m] * y[m]\nreturn d.sum() / max(d.numel(), 1)",
    "if there are any": "m = x > 0\nd = x[m]\nn = d.numel()\nif n > 0:\n    return d.sum() / n\nreturn x.sum() * 0",
    "unless there is none": "d = x[x > 0]\nif len(d) == 0:\n    out = x.sum() * 0\nelse:\n    out = d.abs().mean()\nreturn out",
    "in turns": "total = 0.0\nfor i in range(2):\n    m = x > i\n    if m.sum() > 0:\n        d = x[m]\n        total = total + (d ** 2).mean()\nreturn total",
    "on both ways": "m = y > 0\nif x.shape[0] > 2:\n    d = x[m]\nelse:\n    d = x[m] * 2\nreturn d.exp().sum()",
    "bytes": "m = (x > 0).byte()\nd = (x - y)[m]\nreturn d.abs().mean()",
    "classes": "m = y[:, 0] > 0\nlabels = torch.arange(len(x)) % 6\nreturn F.cross_entropy(x[m], labels[m])",
    "classes of places": "m = y.view(2, 2, 6)[..., 0] > 0\nlabels = torch.arange(4).view(2, 2)\nreturn F.cross_entropy(x.view(2, 2, 6)[m], labels[m], label_smoothing=0.1)",
    "stored": "x = x.clone()\nm = x > 0\nh = x[m]\nx[m] = 1.12 * h + 0.12\nreturn x",
    "stored by a root": "d = (x - y) ** 2\nd[d > 1] = torch.pow(d[d > 1], 0.1) * 3.0\nreturn d.sum()",
    "stored by a quotient": "x = x.clone()\nz = y.clone()\nz[:, 0] = 0\nm = z > 0\nx[m] = x[m] / z[m]\nreturn x",
    "stored by a quotient in place": "x = x.clone()\nz = F.relu(y)\nm = z > 0\nx[m] /= z[m]\nd = z[m]\nx[m] /= d * 2\nreturn x",
    "stored by a root in place": "x = x.clone()\nz = F.relu(y)\nm = z > 0\nx[m] += z[m].sqrt()\nx[m] *= 2 + z[m]\nx[~m] -= z[~m].exp()\nreturn x",
    "a quotient of itself": "x = F.relu(x).clone()\nm = x > 0\nx[m] /= x[m] * 2\nreturn x * y",
    "written after": "x = x.clone()\nm = x > 0\nd = x[m]\nx[0] = 5.0\nx.mul_(2)\nreturn d.pow(2).sum() + x.sum()",
    "selected from what was written": "z = torch.zeros_like(y)\nz[0] = y[0] * 2\nz.add_(1)\nm = x > 0\nz = z[m]\nreturn F.smooth_l1_loss(x[m], z) + z.exp().sum()",
    "a mask made anew": "x = x.clone()\na = x[x > 0].exp().sum()\nx[0] = -x[0]\nb = x[x > 0]\nreturn a + b.exp().sum() + b.sum()",
}
# Outside of the mask there is what has no value, or no slope.
OUTSIDE = {
    "nan": "y = torch.where(y > 0, y, torch.full_like(y, float('nan')))\nvalid = ~torch.isnan(y)\nreturn {loss}",
    "inf": "y = torch.where(y > 0, y, torch.full_like(y, float('inf')))\nvalid = torch.isfinite(y)\nreturn {loss}",
    "zero": "y = F.relu(y)\nvalid = y > 0\nreturn {loss}",
}
LOSSES = [
    "(x - y)[valid].abs().mean()",
    "F.l1_loss(x[valid], y[valid])",
    "F.mse_loss(x[valid], y[valid], reduction='sum')",
    "F.smooth_l1_loss(x[valid], y[valid])",
    "torch.log(y[valid]).mean()",
    "(torch.sqrt(y[valid]) * x[valid]).sum()",
    "(x[valid] / y[valid]).sum()",
    "y[valid].std() + y[valid].max() + y[valid].norm()",
    "torch.exp(y[valid] * 2 - 1).sum() + torch.tanh(y[valid]).sum()",
    "(1 / (y[valid] - 100.0)).sum()",
]
# What has no static form, or may have none: the selection stays, and so do all that it meets.
KEPT = {
    "returned": "d = x[x > 0]\nreturn d",
    "returned beside": "d = x[x > 0]\nreturn d.mean(), d",
    "in order": "d = x[x > 0]\nreturn d.cumsum(0).mean() + d.mean()",
    "sorted": "d = x[x > 0]\nreturn d.sort()[0].sum()",
    "indexed": "d = x[x > 0]\nreturn d[0] + d.sum()",
    "joined": "return torch.cat([x[x > 0], y[y > 0]]).mean()",
    "two masks": "m, n = x > 0, y > 0\nreturn (x[m] - y[n]).mean()",
    "a mask bound anew": "m = x > 0\nd = x[m]\nm = y > 0\nreturn (d - y[m]).sum()",
    "a mask bound in a condition": "m = x > 0\nd = x[m]\nif (m := y > 0).shape[0] > 1:\n    s = d.abs().sum()\nreturn s",
    "a mask written": "m = x > 0\nd = x[m]\nm[0] = False\nreturn d.abs().sum()",
    "a mask written by another name": "m = x > 0\nn = m.view(-1)\nd = x[m]\nn[0] = False\nreturn d.abs().sum()",
    "a mask written by a function": "def clear(mask):\n    mask[0] = False\n\ndef f(x, y):\n    m = x > 0\n    d = x[m]\n    clear(m)\n    return d.abs().sum()",
    "written": "d = x[x > 0]\nd[0] = 1.0\nreturn d.sum()",
    "written under another name": "d = x[x > 0]\ne = d\ne.mul_(2)\nreturn d.sum()",
    "written over": "d = x[x > 0]\ntorch.add(d, 1, out=d)\nreturn d.sum()",
    "met with a tensor": "d = x[x > 0]\nw = y.mean(0)\nreturn (d * w[0]).sum() + (d * w[:1]).sum()",
    "along a dim": "d = x[x.sum(1) > 0]\nreturn d.mean(0)",
    "in a comprehension": "d = x[x > 0]\nreturn sum([d.sum() * i for i in range(2)])",
    "in a turn before": "d = x.flatten()\nfor i in range(2):\n    s = d.exp().sum()\n    d = x[x > i]\nreturn s",
    "handed on": "def g(d):\n    return d.sum()\n\n\ndef f(x, y):\n    return g(x[x > 0])",
    "places": "m = x > 0\nd = x[m]\nreturn sum(d[i] for i in range(d.shape[0]))",
}
NONE = [
    "m = x < 0\nreturn F.mse_loss(x[m], y[m], reduction='sum') + x.sum()",
    "d = x[x < 0]\nreturn (d ** 2).mean()",
    "m = x < 0\nd = torch.log(x[m])\nreturn (d - d.mean()).pow(2).sum() + (y[m] / x[m]).sum()",
    "m = x < 0\nreturn F.cross_entropy(torch.stack([x, y], 1)[m], m.long()[m], reduction='sum')",
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_reduced(name):
    _, _, code = both(PROGRAMS[name])
    assert "[m]" not in code and "[mask]" not in code and "[valid]" not in code
    compare(PROGRAMS[name], three((4, 6)))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_outside_does_not_matter(name, loss):
    compare(OUTSIDE[name].format(loss=loss), three((4, 6)))


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    body = source_of(KEPT[name]).replace("def f(x, y):", "def f(self, x, y):").removeprefix(HEAD)
    helper, _, function = body.rpartition("def f(")
    source = HEAD + helper + "class M(nn.Module):\n    def forward(" + function.replace("\n", "\n    ")
    result = convert_source(source)
    assert {d.id for d in result.diagnostics} == {"data-dependent-shape"}, result.code


def test_what_functions_write_is_found_once():
    """Each of forty functions calls the one before twice: by all ways through them, 2**40 calls."""
    chain = "def f0(t, n):\n    return t if n == 0 else f40(t, n - 1)\n"
    chain += "".join(f"def f{i + 1}(t, n):\n    return f{i}(t, n) + f{i}(t * 2, n)\n" for i in range(40))
    result = convert_source(source_of(chain + "def f(x, y):\n    m = x > 0\n    return x[m].sum() + f40(x, 1)"))
    assert "where=m" in result.code, result.code


@pytest.mark.parametrize("body", NONE)
def test_of_none(body):
    """The mean of nothing is NaN, and no gradient comes of it."""
    torch_f, jax_f, code = both(body)
    x, y = (torch.ones(3, requires_grad=True) for _ in range(2))
    want = torch_f(x, y)
    slopes = torch.autograd.grad(want, [x, y], allow_unused=True)
    arrays = [jnp.ones(3), jnp.ones(3)]
    np.testing.assert_array_equal(jax.jit(jax_f)(*arrays), want.detach(), err_msg=code)
    for got, slope in zip(jax.grad(jax_f, (0, 1))(*arrays), slopes):
        np.testing.assert_array_equal(got, np.zeros(3) if slope is None else slope, err_msg=code)


def test_a_layer_that_is_a_loss():
    source = HEAD + "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.loss = nn.MSELoss(reduction='sum')\n        self.ce = nn.CrossEntropyLoss()\n\n    def forward(self, x, y, labels):\n        m = y > 0\n        return self.loss(x[m], y[m]) + self.ce(x[m[:, 0]], labels[m[:, 0]])\n"
    result = convert_source(source)
    assert not result.diagnostics
    torch_side, jax_side = both_modules(source, result)
    x, y, labels = torch.arange(6.0).view(3, 2), torch.tensor([[1.0, -1.0], [-2.0, 1.0], [3.0, 3.0]]), torch.tensor([0, 1, 0])
    arrays = [jnp.asarray(t.numpy()) for t in (x, y, labels)]
    np.testing.assert_allclose(jax.jit(jax_side)(*arrays), torch_side(x, y, labels), 1e-9)


BY_ROWS = {
    "a layer": ("nn.Linear(6, 6)", "out[m] = self.fc(x[m])"),
    "layers": ("nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 6))", "out[m] = torch.tanh(self.fc(x[m])) + x[m]"),
    "an expert": ("Expert(6)", "h = self.fc(x[m])\nout[m] += h * 2"),
    "experts": ("nn.ModuleList([Expert(6), Expert(6)])", "for i, expert in enumerate(self.fc):\n    rows = m if i else ~m\n    out[rows] = expert(x[rows])"),
}
BY_ROWS |= {
    "weighted": ("nn.Linear(6, 6)", "w = x[:, 0] * 2\nout[m] += w[m].unsqueeze(-1) * self.fc(x[m])"),
    "weighted by a new dim": ("nn.Linear(6, 6)", "w = x[:, 0] * 2\nout[m] = w[m][:, None] * self.fc(x[m]) + w[m][..., None]"),
    "a mixture of experts": (
        "nn.ModuleList([Expert(6), Expert(6), Expert(6)])",
        "w, idx = torch.nan_to_num(x)[:, :3].softmax(-1).topk(2)\nfor i, expert in enumerate(self.fc):\n    rows = m & (idx == i).any(-1)\n    if rows.any():\n        share = (w * (idx == i)).sum(-1)\n        out[rows] += share[rows].unsqueeze(-1) * expert(x[rows])",
    ),
}
NOT_BY_ROWS = {
    "a norm of the batch": ("nn.BatchNorm1d(6)", "out[m] = self.fc(x[m])"),
    "softmax of all": ("nn.Softmax(dim=0)", "out[m] = self.fc(x[m])"),
    "a class that reduces": ("Centred(6)", "out[m] = self.fc(x[m])"),
    "other rows": ("nn.Linear(6, 6)", "out[~m] = self.fc(x[m])[: len(x[~m])]"),
}
EXPERTS = """class Expert(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(n, 4, bias=False), nn.Linear(4, n), nn.Linear(n, 4)

    def forward(self, x):
        h = F.silu(self.w1(x)) * self.w3(x)
        return self.w2(h)


class Centred(Expert):
    def forward(self, x):
        return self.w2(self.w1(x - x.mean(0)))


"""


def experts(made, body):
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return f"{HEAD}{EXPERTS}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = {made}\n\n    def forward(self, x):\n        out = torch.zeros_like(x)\n        m = x[:, 0] > 0\n{lines}        return out\n"


@pytest.mark.parametrize("name", BY_ROWS)
def test_layers_of_chosen_rows(name):
    source = experts(*BY_ROWS[name])
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    x = torch.randn(5, 6)
    x[1, 1:], x[1, 0] = float("nan"), -1.0  # among the rows that are left out
    if name == "experts":
        x[1] = 1.0
    assert transpile.verify(torch_module, module, x).ok, result.code


@pytest.mark.parametrize("name", NOT_BY_ROWS)
def test_layers_of_all_rows_together(name):
    assert "data-dependent-shape" in {d.id for d in convert_source(experts(*NOT_BY_ROWS[name])).diagnostics}


def test_ranks_that_differ_are_no_selections_of_one_kind():
    """(3, 1) beside (3,) would be (3, 3) here, of which a mask chooses whole columns."""
    torch_f, jax_f, _ = both("m = y > 0\nreturn (x[m] - y[m]).abs().mean()")
    x, y = torch.arange(3.0)[:, None], torch.tensor([1.0, -1.0, 2.0])
    assert torch_f(x, y) == 1.0
    with pytest.raises(AssertionError):
        jax_f(jnp.asarray(x.numpy()), jnp.asarray(y.numpy()))


def test_no_mask_of_places():
    torch_f, jax_f, code = both("def f(x, i):\n    d = x[i]\n    return d.abs().sum()")
    x, i = torch.arange(4.0), torch.tensor([2, 2])
    assert "where=" not in code
    np.testing.assert_array_equal(leaves(torch_f(x, i))[0], jax_f(jnp.asarray(x.numpy()), jnp.asarray(i.numpy())))
