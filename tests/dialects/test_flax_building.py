"""Constructors in Flax NNX beside torch's: what is given to build with, numbers and None."""

import jax.numpy as jnp
import pytest
import torch
from flax import nnx

import transpile

from .verified import converted, verify

HEAD = """
import torch
import torch.nn as nn
from torch.nn.utils import spectral_norm, weight_norm

LINEAR, NORM = nn.Linear, nn.BatchNorm1d


class Base(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.fc = nn.Linear(c, c)

    def forward(self, x):
        return self.fc(x)


class Net({base}):
    def __init__(self, make, c, norm=None, name="gru"):
        {made}

    def forward(self, x):
        return {call}
"""
X = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
# name: base, constructor, what is given back, expected in the text
BUILT = {
    "a class that is given": (
        "nn.Module",
        "super().__init__()\n        self.fc = make(c, c)\n"
        "        self.norm = norm(c) if norm is not None else None",
        "self.norm(self.fc(x))",
        "self.fc = nn.build(make, c, c, rngs=rngs)",
    ),
    "a list of what is given": (
        "nn.Module",
        "super().__init__()\n        layers = [make(c, c)]\n        layers.append(norm(c))\n"
        "        self.body = nn.Sequential(*layers)",
        "self.body(x)",
        "layers.append(nn.build(norm, c, rngs=rngs))",
    ),
    "a layer by name": (
        "nn.Module",
        "super().__init__()\n        self.fc = getattr(nn, name.upper())(c, c)",
        "self.fc(x)[0]",
        "nn.build(nn.layer_named(name.upper()), c, c, rngs=rngs)",
    ),
    "one of two wrappers": (
        "nn.Module",
        "super().__init__()\n        wrap = weight_norm if c else spectral_norm\n"
        "        self.fcs = nn.ModuleList([wrap(nn.Linear(c, c)), wrap(nn.Linear(c, c))])",
        "self.fcs[1](self.fcs[0](x))",
        "nn.build(wrap, nn.Linear(c, c, rngs=rngs), rngs=rngs)",
    ),
    "past a base": (
        "Base",
        "super(Base, self).__init__()\n        self.fc = nn.Linear(c, c, bias=False)",
        "super().forward(x) + 1",
        "super(Base, self).__init__()",
    ),
    "a list that becomes a ModuleList": (
        "nn.Module",
        "super().__init__()\n        self.fcs = []\n        for _ in range(2):\n"
        "            self.fcs.append(nn.Linear(c, c))\n        self.fcs = nn.ModuleList(self.fcs)",
        "self.fcs[1](self.fcs[0](x))",
        "self.fcs = nnx.List()",
    ),
    "a comma behind add_module": (
        "nn.Module",
        "super().__init__()\n        self.add_module('fc', nn.Linear(c, c)),",
        "self.fc(x)",
        "self.fc = nn.Linear(c, c, rngs=rngs)",
    ),
}


@pytest.mark.parametrize("name", BUILT)
def test_built(name):
    base, made, call, expected = BUILT[name]
    source = HEAD.replace("{base}", base).replace("{made}", made).replace("{call}", call)
    verify(source, "Net", "LINEAR, 3, NORM", [X], "flax")
    assert expected in transpile.convert_source(source, "flax").code


GIVEN = """
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, alpha=None, weight: torch.Tensor = None, mode="a"):
        super().__init__()
        self.alpha = alpha
        if isinstance(alpha, list):
            self.alpha = torch.tensor(alpha)
        self.register_buffer("weight", weight)
        self.steps = 0
        self.mode = mode

    def forward(self, x):
        if not hasattr(self, "mode"):
            self.mode = "b"
        self.steps = self.steps + 1
        if self.alpha is not None:
            if self.alpha.dtype != x.dtype:
                self.alpha = self.alpha.type_as(x)
            x = x * self.alpha
        if self.weight is not None:
            x = x + self.weight
        return x * self.steps if self.mode == "a" else x
"""


def test_numbers_and_none_in_the_place_of_arrays():
    result = transpile.convert_source(GIVEN, "flax")
    assert result.diagnostics == []
    for line in (
        "self.weight = None if weight is None else nn.Buffer(weight)",
        "self.steps = nn.Buffer(jnp.array(0), persistent=False)",
        "self.mode = mode\n",
    ):
        assert line in result.code
    make, x = converted(result.code, result.support)["Net"], jnp.ones((2, 3))
    for alpha, weight, wanted in ((None, None, 1), (2.0, jnp.ones(3), 3), ([4.0, 4.0, 4.0], None, 4)):
        model = make(alpha, weight)
        assert (nnx.jit(lambda model, x: model(x))(model, x) == wanted).all()
        assert model.steps[...] == 1


LEARNED = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = torch.full((n,), 2.0)
        self.w = nn.Parameter(self.w)

    def forward(self, x):
        return x * self.w
"""


def test_an_array_that_is_made_a_param():
    result = transpile.convert_source(LEARNED, "flax")
    assert result.diagnostics == [] and "self.w = nnx.Param(self.w[...])" in result.code
    model = converted(result.code, result.support)["Net"](3)
    assert (model(jnp.ones(3)) == 2).all() and isinstance(model.w, nnx.Param)


WALKED = """
import torch.nn as nn


def reset(net):
    for p in net.parameters():
        if p.dim() > 1:
            nn.init.ones_(p)
        else:
            p.data = p.data * 0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        reset(self)
"""


def test_a_write_of_what_a_walk_over_params_binds():
    result = transpile.convert_source(WALKED, "flax")
    assert result.diagnostics == []
    model = converted(result.code, result.support)["Net"](rngs=nnx.Rngs(0))
    assert (model.fc.weight[...] == 1).all() and (model.fc.bias[...] == 0).all()


PLACES = """
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))

    def forward(self, x):
        x = x * self.w
        d = x @ x.t()
        d[range(len(d)), range(len(d))] = 0
        d[[0, 1]] = d[[1, 0]] * 2
        return d
"""


def test_what_is_put_at_the_places_of_lists():
    verify(PLACES, "Net", "", [X], "flax")


BEGINS = """
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.loc, self.w = nn.Parameter(torch.zeros(1, 3)), nn.Parameter(torch.ones(3))
        self.register_buffer("initialized", torch.tensor(0, dtype=torch.uint8))

    def initialize(self, x):
        with torch.no_grad():
            self.loc.data.copy_(-x.mean(0, keepdim=True))
            self.w[0] = 3

    def forward(self, x):
        if self.initialized.item() == 0:
            self.initialize(x)
            self.initialized.fill_(1)
        return (x + self.loc) * self.w
"""


def test_a_layer_that_the_first_input_initialises():
    result = transpile.convert_source(BEGINS, "flax")
    assert "nnx.cond(lax.stop_gradient(self.initialized[...]).reshape(()) == 0, then" in result.code
    model = converted(result.code, result.support)["Net"]()
    x = jnp.arange(6.0).reshape(2, 3)
    grads = nnx.grad(lambda model: model(x).sum())(nnx.clone(model))
    assert jnp.allclose(grads["loc"][...], jnp.array([6.0, 2, 2])), grads
    assert jnp.allclose(model(x), (x - x.mean(0)) * jnp.array([3.0, 1, 1]))
    assert jnp.allclose(model.loc[...], -x.mean(0)) and model.initialized[...] == 1
    assert jnp.allclose(model(x + 1), (x + 1 - x.mean(0)) * jnp.array([3.0, 1, 1]))


COPIED_AND_WALKED = """
import copy
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(3)
        nn.init.constant_(self.norm.weight, 2.0)
        self.copy = copy.deepcopy(nn.Sequential(self.norm, nn.LayerNorm(3)))
        self.other = nn.LayerNorm(3)
        for p, q in zip(self.copy[0].parameters(), self.other.parameters()):
            q.data.copy_(p.data)

    def forward(self, x):
        return self.other(self.copy(x))
"""


def test_a_copy_is_walked_in_the_order_of_what_it_is_of():
    result = transpile.convert_source(COPIED_AND_WALKED, "flax")
    model = converted(result.code, result.support)["Net"]()
    assert not result.diagnostics and "nn.copied" in result.code
    assert (model.other.weight[...] == 2).all() and (model.other.bias[...] == 0).all()


DROPOUTS = """
import torch
import torch.nn.functional as F
from torch import nn


class Twice(nn.Dropout):
    def __init__(self, p, scale=1.0):
        super().__init__(p=p, inplace=False)
        self.scale = scale

    def forward(self, x):
        return F.dropout(x, self.p, self.training) * self.scale + super().forward(x)


class Alpha(nn.AlphaDropout):
    def __init__(self, p):
        super().__init__(p)


class Block(nn.Module):
    def __init__(self, act=nn.Dropout, p=None):
        super().__init__()
        self.act = act() if p is None else act(p, inplace=True)

    def forward(self, x):
        return self.act(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.twice, self.alpha = Twice(0.0, 2.0), Alpha(0.0)
        self.a, self.b, self.c = Block(), Block(act=nn.Dropout, p=0.0), Block(nn.Tanh)

    def forward(self, x):
        x = self.twice(x) * (1 - self.twice.p) + self.alpha(x)
        return self.c(self.b(x)) if self.training else self.a(self.b(x))
"""


def test_dropouts_below_nnx_s_and_handed_on():
    verify(DROPOUTS, "Net", "", [X], "flax")
