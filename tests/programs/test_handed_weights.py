"""Weights that constructors are handed in order to share them."""

import jax
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

MODULES = """
class Head(nn.Module):
    def __init__(self, d, weights):
        super().__init__()
        self.lin = nn.Linear(d, d)
        {head}

    def forward(self, x):
        return self.decoder(self.lin(x)){bias}


class Heads(nn.Module):
    def __init__(self, d, weights):
        super().__init__()
        self.first = {hand}

    def forward(self, x):
        return self.first(x)


class Body(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.embed = {embed}

    def forward(self, x):
        return self.embed(x)


class M(nn.Module):
    def __init__(self, n=7, d=4):
        super().__init__()
        self.body = Body(n, d)
        self.heads = Heads(d, self.body.embed.weight)

    def forward(self, x):
        return self.heads(self.body(x))
"""
SIZED = "self.decoder = nn.Linear(weights.size(1), weights.shape[0], bias=False)\n        self.decoder.weight = weights\n        self.bias = nn.Parameter(torch.zeros(weights.size(0)))"
PLAIN = "self.decoder = nn.Linear(d, 7)\n        self.decoder.weight = weights"
EMBEDDING = "nn.Embedding(n, d)"
SHARED = {
    "with sizes": (SIZED, " + self.bias", "Head(d, weights)", EMBEDDING),
    "by keyword": (SIZED, " + self.bias", "Head(weights=weights, d=d)", EMBEDDING),
    "without sizes": (PLAIN, "", "Head(d, weights)", EMBEDDING),
}
REFUSED = {
    "of an unknown layer": (SIZED, "", "Head(d, weights)", "nn.Embedding(n, d) if n else nn.Linear(n, d)"),
    "used otherwise": (SIZED + "\n        self.bias.data.copy_(weights.sum(1))", " + self.bias", "Head(d, weights)", EMBEDDING),
}


def source_of(head, bias, hand, embed):
    return HEAD + MODULES.format(head=head, bias=bias, hand=hand, embed=embed)


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", SHARED)
def test_it_is_shared(name):
    source = source_of(*SHARED[name])
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_side, jax_side = both_modules(source, result)
    torch_side = torch_side.double()
    params, _ = from_torch(torch_side, jax_side)
    assert jax.tree.structure(params) == jax.tree.structure(jax_side.init(jax.random.key(0)))
    x = torch.tensor([[1, 2, 6]])
    out = torch_side(x)
    np.testing.assert_allclose(jax_side(params, x.numpy()), out.detach(), 1e-12, err_msg=result.code)
    out.square().sum().backward()
    got = jax.grad(lambda p: (jax_side(p, x.numpy()) ** 2).sum())(params)
    np.testing.assert_allclose(got["body"]["embed"]["weight"], torch_side.body.embed.weight.grad, 1e-10)


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name):
    result = convert_source(source_of(*REFUSED[name]))
    assert {"module-value", "array-while-building"} & {d.id for d in result.diagnostics}, result.code
    assert "nn.unconverted(" in result.code


def test_lines_are_those_of_the_source():
    source = source_of(*SHARED["with sizes"]) + "\n\ndef f(x):\n    return torch.nonexistent(x)\n"
    (found,) = convert_source(source).diagnostics
    assert "nonexistent" in source.splitlines()[found.line - 1]


LOCAL = """
class Part(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.w = w

    def forward(self, x):
        return x * self.w


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        w = nn.Parameter(torch.ones(4))
        self.part = Part(w)

    def forward(self, x):
        return self.part(x)
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_a_param_that_a_local_name_holds_does_not_become_a_constant(target):
    result = convert_source(HEAD + LOCAL, target)
    assert [d.id for d in result.diagnostics] == ["tied-weight"] and "w = w" in result.code, result.code
    assert "self.part = Part(w)" not in result.code
