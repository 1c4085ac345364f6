"""Params that may be missing: with and without them a module computes what torch's does."""

import jax
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

MODULE = HEAD + """
class M(nn.Module):
    def __init__(self, n, use):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n, n))
        {made}

    def forward(self, x):
        return F.linear(x, self.w, self.b)
"""

# and of a submodule: the layer, and what is read of it
OF_A_LAYER = {
    "self.b = nn.Linear(n, n, bias=use)": ("self.b.bias", 'params["b"].get("bias")'),
    "self.b = nn.Linear(n, n, use)": ("self.b.bias", 'params["b"].get("bias")'),
    "self.b = nn.Linear(n, n)": ("self.b.bias", 'params["b"]["bias"]'),
    "self.b = nn.BatchNorm1d(n, affine=True)": ("self.b.weight", 'params["b"]["weight"]'),
}

MADE = {
    "a choice": "self.b = nn.Parameter(torch.randn(n)) if use else None",
    "the other way": "self.b = None if not use else nn.Parameter(torch.randn(n))",
    "of two": "self.b = (nn.Parameter(torch.ones(n)) if n > 3 else nn.Parameter(torch.randn(n))) if use else None",
    "one after the other": "self.b = nn.Parameter(torch.ones(n)) if n > 9 else nn.Parameter(torch.randn(n)) if use else None",
    "registered": 'self.register_parameter("b", nn.Parameter(torch.randn(n)) if use else None)',
}


def computes_the_same(source, use):
    """A module that converts without a diagnostic and computes what torch's does; returns it with its params and its code."""
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, jax_module = both_modules(source, result, 4, use)
    params, state = from_torch(torch_module, jax_module)
    x = torch.randn(3, 4)
    got = jax_module.apply(params, state, x.numpy())[0]
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), rtol=1e-4, atol=1e-5, err_msg=result.code)
    return jax_module, params, result.code


@pytest.mark.parametrize("use", [True, False])
@pytest.mark.parametrize("name", MADE)
def test_a_param_that_may_be_missing(name, use):
    computes_the_same(MODULE.format(made=MADE[name]), use)


NUMBERS = {
    "a number on the other way": "if use:\n            self.b = nn.Parameter(torch.randn(n))\n        else:\n            self.b = 2.0",
    "a number first": "if not use:\n            self.b = 2.0\n        else:\n            self.b = nn.Parameter(torch.randn(n))",
    "a choice": "self.b = nn.Parameter(torch.randn(n)) if use else 2.0",
    "what is given": "self.b = nn.Parameter(torch.randn(n)) if use else n",
    "under the name of an argument": "self.use = nn.Parameter(torch.randn(n)) if use else 2.0\n        self.b = 3.0 if use else self.use",
    "two at once": "if use:\n            self.a = nn.Parameter(torch.randn(n))\n            self.b = nn.Parameter(torch.randn(n))\n        else:\n            self.a, self.b = 1.0, 2",
}


@pytest.mark.parametrize("use", [True, False])
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_no_param(name, use):
    jax_module, params, code = computes_the_same(MODULE.format(made=NUMBERS[name]).replace("F.linear(x, self.w, self.b)", "x @ self.w * self.b"), use)
    assert jax_module.init(jax.random.key(0)).keys() == params.keys(), code


OBJECTS = {
    "a method of an object": "scheme = Scheme(use)\n        self.b = nn.Parameter(torch.Tensor(n))\n        scheme.apply(self.b, 2)",
    "in a loop": "scheme = Scheme(use)\n        self.a = nn.Parameter(torch.Tensor(n))\n        self.b = nn.Parameter(torch.Tensor(n)) if n > 3 else None\n        for p in [self.a, self.b]:\n            if p is not None:\n                scheme.apply(p, 2)",
    "made there": "self.b = nn.Parameter(torch.Tensor(n))\n        Scheme(use).apply(self.b, 2)",
}


@pytest.mark.parametrize("use", [True, False])
@pytest.mark.parametrize("name", OBJECTS)
def test_objects_fill_params(name, use):
    scheme = "\n\nclass Scheme:\n    def __init__(self, ones):\n        self.ones = ones\n\n    def apply(self, x, d):\n        if self.ones:\n            nn.init.ones_(x)\n        else:\n            nn.init.uniform_(x, a=d, b=2 * d)\n"
    source = HEAD + scheme + MODULE.removeprefix(HEAD).format(made=OBJECTS[name])
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    _, jax_module = both_modules(source, result, 4, use)
    b = jax_module.init(jax.random.key(0))["b"]
    assert (b == 1).all() if use else ((b >= 2) & (b <= 4)).all() and b[0] != b[1], result.code


@pytest.mark.parametrize("use", [True, False])
@pytest.mark.parametrize("made", OF_A_LAYER)
def test_the_bias_of_a_layer(made, use):
    read, written = OF_A_LAYER[made]
    source = MODULE.format(made=made).replace("self.b)", f"{read})")
    result = convert_source(source)
    assert not result.diagnostics and written in result.code, (result.diagnostics, result.code)
    torch_module, jax_module = both_modules(source, result, 4, use)
    params, state = from_torch(torch_module, jax_module)
    x = torch.randn(3, 4)
    np.testing.assert_allclose(jax_module(params, x.numpy()), torch_module(x).detach().numpy(), rtol=1e-5, atol=1e-6)
