"""Attributes that hold a module on some ways and a plain function on others are called alike."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

MODULE = """from functools import partial


def always(val):
    return lambda *args, **kwargs: val

def identity(t, *args):
    return t

def scaled_by(t, k):
    return t * k

def default(v, d):
    return d if v is None else v

def act(name):
    if name == "relu":
        return F.relu
    return nn.GELU() if name == "gelu" else lambda t: t

def norm(name):
    if name == "layer":
        return nn.LayerNorm(4)
    return nn.BatchNorm1d(4) if name == "batch" else lambda t: t

ACTS = {{"relu": F.relu, "silu": nn.SiLU()}}

class M(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.f = {made}
        self.g = nn.Linear(4, 4)

    def forward(self, x):
        x = self.g(x)
        y = self.f(x)
        return x + y if y is not None else x
"""

MADE = {
    "a constant": "nn.Linear(4, 4) if a else always(None)",
    "a constant beside a layer with state": "nn.BatchNorm1d(4) if a else always(1)",
    "a function of a function": 'act("gelu" if a else "relu")',
    "a lambda of a function": 'act("gelu" if a else "same")',
    "of a table": 'ACTS["silu" if a else "relu"]',
    "of a display": '{"x": nn.Tanh(), "y": torch.tanh}["x" if a else "y"]',
    "given to a function": "default(None if a else F.relu, nn.GELU())",
    "partial": "partial(scaled_by, k=3) if a else nn.Linear(4, 4)",
    "partial of torch's": "nn.ReLU() if a else partial(F.softmax, dim=-1)",
    "of the file": "nn.Linear(4, 4) if a else identity",
}


def assert_both_ways_compute_the_same(source, result):
    x = torch.randn(3, 4)
    for a in (True, False):
        torch_module, module = both_modules(source, result, a)
        params, state = from_torch(torch_module, module)
        got, _ = module.apply(params, state, jnp.asarray(x.numpy()), key=jax.random.key(0))
        np.testing.assert_allclose(got, torch_module.eval()(x).detach(), 1e-4, 1e-5, err_msg=result.code)


@pytest.mark.parametrize("name", MADE)
def test_both_are_called(name):
    source = HEAD + MODULE.format(made=MADE[name])
    result = convert_source(source)
    assert not result.diagnostics, result.code
    assert_both_ways_compute_the_same(source, result)


def test_what_functions_make_of_modules_alone_stays():
    made = "def make(n, norm):\n    return norm(n) if norm else nn.Identity()\n\n"
    body = "class M(nn.Module):\n    def __init__(self, norm=nn.LayerNorm):\n        super().__init__()\n        self.n = make(3, norm)\n\n    def forward(self, x):\n        return self.n(x)\n"
    assert "as_module" not in convert_source(HEAD + made + body).code


PLAIN = {  # what is kept, how the functional output calls it, and whether Equinox asks what it takes
    "a function or a layer without params": ("F.relu if a else nn.GELU()", "self.f(x)", False),
    "a lambda or a layer with params": ("nn.LayerNorm(4) if a else lambda t: t", 'self.f(params["f"], x)', False),
    "a function or dropout": ("nn.Dropout(0.5) if a else F.relu", "self.f(x, key=key, training=training)", True),
    "what a function makes": ('norm("batch" if a else "none")', 'self.f(params["f"], state["f"], x, training=training)', True),
    "what the run names, or a layer": ('getattr(F, "gelu" if a else "relu")', "self.f(x)", False),
}


@pytest.mark.parametrize("name", PLAIN)
def test_functions_of_arrays_take_what_the_layers_beside_them_take(name):
    made, called, any_way = PLAIN[name]
    source = HEAD + MODULE.format(made=made)
    result = convert_source(source)
    assert called in result.code and "apply(" not in result.code, result.code
    equinox = convert_source(source, target="equinox").code
    assert ("nn.call(" in equinox) == any_way, equinox
    assert_both_ways_compute_the_same(source, result)


def test_a_lambda_that_holds_a_module_is_no_plain_function():
    made = "nn.GELU() if a else lambda t, l=self.l: l(t)"
    source = HEAD + MODULE.format(made=made).replace("        self.f", "        self.l = nn.Linear(4, 4)\n        self.f")
    assert "module-value" in {d.id for d in convert_source(source, target="equinox").diagnostics}
