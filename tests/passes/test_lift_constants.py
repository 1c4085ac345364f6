"""Masks that sizes alone tell choose under jit too; what follows from data is reported as before."""

import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both, both_modules, compare, three

PROGRAMS = {
    "a diagonal": ("n = x.shape[0]\nmask = ~torch.eye(n, dtype=torch.bool)\nreturn (x @ x.t())[mask].view(n, -1)", "mask = ~np.eye(n, dtype=bool)"),
    "in the index": ("mask = torch.eye(x.size(0)) > 0\ns = x @ y.t()\nreturn s[~mask], s[mask]", "s[~mask], s[mask]"),
    "labels": (
        "n = x.shape[0] // 2\nlabels = torch.cat([torch.arange(n) for i in range(2)], dim=0)\nlabels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()\nsim = x @ y.t()\n"
        "mask = torch.eye(labels.shape[0], dtype=torch.bool)\nlabels = labels[~mask].view(labels.shape[0], -1)\nsim = sim[~mask].view(sim.shape[0], -1)\n"
        "return sim[labels.bool()].view(labels.shape[0], -1), sim[~labels.bool()], labels * sim",
        "sim[~labels.astype(bool)]",
    ),
    "places": ("n = x.shape[1]\ni, j = torch.where(torch.triu(torch.ones(n, n), 1) > 0)\nreturn x[:, i] * x[:, j]", "i, j = np.nonzero(np.triu(np.ones((n, n)), k=1) > 0)"),
    "rows of places": ("k = torch.ones(3, 3).triu(1).nonzero()\nreturn x[k[:, 0], k[:, 1]]", "k = np.argwhere(np.triu(np.ones((3, 3)), k=1))"),
    "selected": ("n = x.shape[0]\nreturn torch.masked_select(x @ y.t(), torch.ones(n, n).tril().bool())", "np.tril(np.ones((n, n), dtype=bool))"),
    "written in place": ("n = x.shape[0]\nmask = torch.ones((n, n), dtype=bool)\nmask = mask.fill_diagonal_(0)\nreturn (x @ x.t())[mask]", "with jax.ensure_compile_time_eval():"),
    "rounded": ("mask = torch.arange(x.shape[0]) / 3 > 0.4\nreturn x[mask]", "with jax.ensure_compile_time_eval():"),
    "by a function": (
        "def pairs(n):\n    mask = torch.ones((n, n), dtype=torch.bool)\n    for i in range(n):\n        mask[i, i] = 0\n    return mask\n\n\ndef f(x, y):\n    n = len(x)\n    mask = pairs(n)\n    s = x @ y.t()\n    return s[mask].view(n, -1), torch.diag(s, n - 1)",
        "with jax.ensure_compile_time_eval():\n        mask = np.asarray(pairs(n))",
    ),
    "on a way that Python takes": ("mask = torch.eye(4, 6).bool()\nif x.dim() == 3 or y is None:\n    mask = ~mask\nreturn y[mask]", "mask = np.eye(4, M=6).astype(bool)"),
    "beside arrays": ("n = x.shape[0]\nmask = torch.eye(n, dtype=torch.bool)\ns = x @ y.t()\nreturn s[mask] * 2, torch.where(mask, s, -s), mask * s, mask.sum() * s, s.masked_fill(mask, 0)", "np.eye(n, dtype=bool)"),
}

BY_DATA = {
    "an array": "mask = x > 0\nreturn y[mask]",
    "joined with data": "mask = torch.eye(4).bool() | (x[:, :4] > 0)\nreturn y[:, :4][mask]",
    "on a way": "mask = torch.ones(4, 6).bool()\nif x.sum() > 0:\n    mask = x > 0\nreturn y[mask]",
    "chosen by data": "mask = torch.ones(4, 6).bool()\nif x.sum() > 0:\n    mask = torch.eye(4, 6).bool()\nreturn y[mask]",
    "looked up by data": "mask = torch.eye(6).bool()\nrows = mask[x[0].argsort()]\nreturn (y.t() @ y)[mask], rows",
    "handed on": "def g(m):\n    m[0] = True\n    return m\n\n\ndef f(x, y):\n    mask = torch.eye(4, 6).bool()\n    other = g(mask.clone())\n    return y[mask], other, g(mask)",
    "drawn": "mask = torch.rand(4, 6) > 0.5\nreturn y[mask]",
    "of a parameter": "def g(x, mask):\n    return x[mask.bool()]\n\n\ndef f(x, y):\n    return g(x, y > 0)",
    "its copy is written": "mask = torch.eye(4, 6).bool()\nother = mask.clone()\nother[0] = True\nreturn y[mask], other",
    "taken by a store": "mask = torch.zeros(4, 6).bool()\nmask[0] = x[0] > 0\nreturn y[mask]",
}


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", PROGRAMS)
def test_sizes_tell_what_is_chosen(name):
    body, part = PROGRAMS[name]
    assert part in both(body)[2]
    compare(body, three((4, 6)))


@pytest.mark.parametrize("name", BY_DATA)
def test_data_tell_what_is_chosen(name):
    above, _, body = BY_DATA[name].rpartition("def f(x, y):\n")
    lines = textwrap.indent(textwrap.dedent(body), "        ")
    result = convert_source(f"{HEAD}{above}class M(nn.Module):\n    def forward(self, x, y):\n{lines}")
    assert "data-dependent-shape" in {d.id for d in result.diagnostics} and "np." not in result.code.replace("jnp.", ""), result.code


KEPT = {
    "a buffer": ("self.register_buffer('mask', ~torch.eye(n, dtype=bool))", "sim[self.mask]", "return ~np.eye(self.n, dtype=bool)"),
    "turned round": ("self.mask = torch.eye(n, dtype=torch.bool)", "sim[~self.mask]", "self.mask = np.asarray(jnp.eye(n, dtype=bool))"),
    "selected": ("self.mask = torch.eye(n, dtype=torch.bool)", "torch.masked_select(sim[None], self.mask)", "self.mask = np.asarray(jnp.eye(n, dtype=bool))"),
    "by a method": ("self.mask = self.others(n)", "sim[self.mask]", "self.mask = np.asarray(self.others(n))"),
}
MODULE = """class M(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        {made}

    def others(self, n):
        mask = torch.ones((n, n), dtype=bool)
        for i in range(n // 2):
            mask[i, n // 2 + i] = 0
        return mask

    def forward(self, z):
        sim = z @ z.t()
        return {used}.view(2, -1).logsumexp(1)
"""


@pytest.mark.parametrize("name", KEPT)
def test_constants_of_a_module(name):
    made, used, part = KEPT[name]
    source = HEAD + MODULE.format(made=made, used=used)
    result = convert_source(source)
    assert not result.diagnostics and part in result.code, result.code
    torch_module, module = both_modules(source, result, 4)
    z = torch.randn(4, 3)
    params, _ = from_torch(torch_module, module)
    np.testing.assert_allclose(jax.jit(module.__call__)(*([params] if params else []), jnp.asarray(z.numpy())), torch_module(z).numpy(), 1e-5, 1e-5)


def test_a_mask_that_a_class_below_makes_anew_is_reported():
    source = HEAD + MODULE.format(made="self.register_buffer('mask', ~torch.eye(n, dtype=bool))", used="sim[self.mask]")
    source += "\n\nclass Below(M):\n    def __init__(self, n):\n        super().__init__(n)\n"
    source += "        self.register_buffer('mask', torch.eye(n, dtype=bool))\n"
    assert [d.id for d in convert_source(source, target="flax").diagnostics] == ["data-dependent-shape"]
