"""Layers of which an array is computed, in Flax NNX, beside torch."""

import jax
import jax.numpy as jnp
import pytest
import torch
from flax import nnx

import transpile

from .verified import built, converted, verify

NORMED = '''
import torch
import torch.nn as nn
from torch.nn.utils import spectral_norm, weight_norm
from torch.nn.utils.parametrizations import spectral_norm as spectral, weight_norm as weight


class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).transpose(-1, -2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {made}
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.uniform_(m.weight)
                m.bias.data.fill_(1)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x))) + self.a.weight.sum()
'''


@pytest.mark.parametrize(
    "made",
    [
        "self.a, self.b = weight_norm(nn.Linear(3, 3)), weight_norm(nn.Linear(3, 3), dim=1)",
        "self.a, self.b = spectral_norm(nn.Linear(3, 3)), spectral_norm(nn.Linear(3, 3), n_power_iterations=2)",
        "self.a, self.b = weight(nn.Linear(3, 3)), spectral(nn.Linear(3, 3))",
        "self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)\n        spectral_norm(self.a)\n        weight_norm(self.b)",
        "self.a = nn.Linear(3, 3)\n        self.b = nn.Linear(3, 3)\n"
        "        nn.utils.parametrize.register_parametrization(self.a, 'weight', Symmetric())",
    ],
    ids=["weight", "spectral", "parametrizations", "in place", "own"],
)
def test_normed(made):
    torch.manual_seed(0)
    x = torch.randn(2, 3, dtype=torch.float64)
    verify(NORMED.replace("{made}", made), "Net", "", [x], "flax")


HELD = """
import torch
import torch.nn as nn
from torch.nn.utils import spectral_norm, weight_norm
from torch.nn.utils.parametrizations import spectral_norm as spectral, weight_norm as weight


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        {run}
        return x
"""
PAIR = "self.a, self.b = {0}(nn.Linear(3, 3)), {0}(nn.Linear(3, 3))"
LAYERS = "nn.ModuleList([{0}(nn.Conv1d(3, 3, 1)) for _ in range(2)])"
RUNS = {
    "in place": (
        "self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)\n        {0}(self.a)",
        "x = self.b(self.a(x))",
    ),
    "called": (PAIR, "x = self.b(self.a(x))"),
    "in loops": (
        f"self.a, self.b = {LAYERS}, {LAYERS}",
        "for a, b in zip(self.a, self.b):\n            x = x + b(torch.tanh(a(x.T).T.T)).T",
    ),
    "in a container": (
        "self.net = nn.Sequential({0}(nn.Linear(3, 3)), nn.ReLU(), {0}(nn.Linear(3, 3)))",
        "x = self.net(x)",
    ),
    "under a branch on data": (
        PAIR,
        "if x.sum() > 0:\n            x = self.a(x)\n        else:\n            x = self.b(x)",
    ),
    "on one way": (
        "self.a = {0}(nn.Linear(3, 3)); self.b = nn.Linear(3, 3)\n"
        "        if self.a.in_features > 2:\n            self.b = {0}(nn.Linear(3, 3))",
        "x = self.b(self.a(x))",
    ),
}


@pytest.mark.parametrize("norm", ["weight_norm", "spectral_norm", "weight", "spectral"])
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("target", ["functional", "equinox"])
def test_what_they_ask_for(target, name, norm):
    made, run = RUNS[name]
    source = HELD.replace("{made}", made.replace("{0}", norm)).replace("{run}", run)
    torch.manual_seed(0)
    x = torch.randn(2, 3, dtype=torch.float64)
    verify(source, "Net", "", [x], target)


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_the_array_that_a_weight_norm_computes(target):
    made = "self.a = weight_norm(nn.Linear(3, 3))"
    source = HELD.replace("{made}", made).replace("{run}", "x = self.a(x) * self.a.weight.sum() + self.a.bias")
    torch.manual_seed(0)
    verify(source, "Net", "", [torch.randn(2, 3, dtype=torch.float64)], target)


@pytest.mark.parametrize("target", ["functional", "equinox"])
def test_the_array_that_a_spectral_norm_computes_is_refused(target):
    source = HELD.replace("{made}", "self.a = spectral_norm(nn.Linear(3, 3))").replace("{run}", "x = self.a(x) * self.a.weight.sum()")
    result = transpile.convert_source(source, target)
    assert [d.id for d in result.diagnostics] == ["unsupported"], result.code


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_what_initialises_a_spectral_norm_gives_the_original_its_values(target):
    source = NORMED.replace("{made}", "self.a = spectral_norm(nn.Linear(3, 3))\n        self.b = nn.Tanh()")
    source = source.replace(" + self.a.weight.sum()", "")
    result = transpile.convert_source(source, target)
    cls = converted(result.code, result.support)["Net"]
    arrays = transpile.to_torch(built(cls, cls))
    assert (arrays["a.weight_orig"] >= 0).all()
    assert jnp.allclose(jnp.linalg.norm(arrays["a.weight_u"].numpy()), 1)


DRAWN = '''
import torch.nn as nn


def init(m, std=0.1):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0, std)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(30, 30), nn.Linear(30, 30)
        self.apply(init)

    def forward(self, x):
        return self.b(self.a(x))
'''


def test_a_function_that_draws_is_handed_on_with_a_stream():
    result = transpile.convert_source(DRAWN, "flax")
    assert "nn.apply(self, functools.partial(init, rngs=rngs))" in result.code
    model = converted(result.code, result.support)["Net"](rngs=nnx.Rngs(0))
    a, b = model.a.kernel if hasattr(model.a, "kernel") else model.a.weight, model.b.weight
    assert 0.08 < jnp.std(a[...]) < 0.12 and not jnp.array_equal(a[...], b[...])
    assert jax.tree.leaves(nnx.state(model, nnx.Param))
