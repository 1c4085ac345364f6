"""Modules that constructors call for the shape of what they give: there are no params yet, and none are computed."""

import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

MODULE = (
    HEAD
    + """
class M(nn.Module):
    def __init__(self, size=12):
        super().__init__()
        self.size = size
        self.conv = nn.Conv2d(3, 4, 3)
        self.cnn = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten())
        self.pool = nn.MaxPool2d(2)
        self.rnn = nn.LSTM(12, 4)
{constructor}
        self.fc = nn.Linear(n, 2)
        nn.init.orthogonal_(self.fc.weight)
{methods}

    def forward(self, x):
        return {forward}
"""
)
CNN, CONV = "self.fc(self.cnn(x))", "self.fc(self.conv(x).flatten(1))"
PROBES = {
    "under no_grad": ("with torch.no_grad():\n    n = self.cnn(torch.zeros(1, 3, size, size)).shape[1]", "", CNN),
    "step by step": (
        "x = torch.randn(1, 3, 12, 12)\nfor part in self.cnn:\n    x = part(x)\nn = x.numel()\nx = self.pool(F.relu(self.conv(torch.ones(1, 3, 12, 12))))\nn = n * x.size(2) // 5",
        "",
        CNN,
    ),
    "product": ("n = self.outputs((3, 12, 12))", "def outputs(self, shape):\n    o = self.conv(torch.zeros(1, *shape))\n    return math.prod(o.size())", CONV),
    "view": ("n = self.outputs()", "def outputs(self):\n    return self.conv(torch.zeros(1, 3, self.size, self.size)).view(1, -1).size(1)", CONV),
    "Variable": (
        "n = self.outputs((3, 12, 12))",
        "def outputs(self, shape):\n    x = torch.autograd.Variable(torch.rand(1, *shape))\n    y = self.features(x)\n    return y.data.view(1, -1).size(1)\n\ndef features(self, x):\n    return self.pool(F.relu(self.conv(x)))",
        "self.fc(self.features(x).flatten(1))",
    ),
    "called by forward too": ("n = self.outputs()", "def outputs(self):\n    return self.conv(torch.zeros(1, 3, 12, 12)).numel()", "self.fc(self.conv(x).view(-1, self.outputs()))"),
    "property": ("n = self.outputs", "@property\ndef outputs(self):\n    return self.conv(torch.zeros(1, 3, 12, 12)).numel()", CONV),
    "several": ("out, (h, c) = self.rnn(torch.zeros(5, 1, 12))\nn = out.size(-1)", "", "self.fc(self.rnn(x[0])[0])"),
    "in the shape of a parameter": ("self.p = nn.Parameter(torch.ones(self.conv(torch.zeros(1, 3, 12, 12)).shape[1:]))\nn = 400", "", "self.fc((self.conv(x) * self.p).flatten(1))"),
    "feature maps": (
        "sizes = [f.shape[1] for f in self.maps(torch.randn(1, 3, 12, 12))]\nn = sizes[0] * 100",
        "def maps(self, x):\n    x = self.conv(x)\n    return [x, self.pool(x)]",
        "self.fc(self.maps(x)[0].flatten(1))",
    ),
}


def program(name):
    constructor, methods, forward = PROBES[name]
    return MODULE.format(constructor=textwrap.indent(constructor, " " * 8), methods=textwrap.indent("\n" + methods, " " * 4), forward=forward)


def same(source, shape=(2, 3, 12, 12)):
    """The params that init makes have torch's shapes, and with torch's weights both compute the same."""
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, jax_module = both_modules(source, result)
    torch_module.eval()
    params, state = from_torch(torch_module, jax_module)
    assert jax.tree.map(jnp.shape, jax_module.init(jax.random.key(0))) == jax.tree.map(jnp.shape, params)
    x = torch.randn(shape)
    y, _ = jax_module.apply(params, state or jax_module.init_state(jax.random.key(0)), jnp.asarray(x.numpy()))
    np.testing.assert_allclose(y, torch_module(x).detach(), 1e-4, 1e-5)
    return result


@pytest.mark.parametrize("name", PROBES)
def test_the_shape_of_what_a_module_gives(name):
    result = same(program(name))
    assert "nn.dry_run(" in result.code and "jax.random.normal" not in result.code


def test_forward_of_a_submodule_called_from_outside():
    result = same(
        HEAD
        + """
class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.scale = nn.Parameter(torch.ones(4))

    def length(self, height=8):
        return self.forward(torch.zeros((1, 3, height, height))).shape[1]

    def forward(self, x):
        return self.conv(x).flatten(2).transpose(1, 2) * self.scale


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = Tokens()
        n = self.tokens.length(height=12)
        self.embed = nn.Parameter(torch.randn(1, n, 4))
        self.fc = nn.Linear(n, 2)

    def forward(self, x):
        return self.fc((self.tokens(x) + self.embed).mT)
"""
    )
    assert "return nn.dry_run(self, jnp.zeros((1, 3, height, height))).shape[1]" in result.code


def test_a_call_for_what_it_keeps_is_reported():
    """A size that the first call fixes is fixed by the first call after it."""
    source = (
        "import torch\nfrom torch import nn\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc, self.n = nn.Linear(3, 3), None\n        self.forward(torch.rand(2, 3))\n\n"
        "    def forward(self, x):\n        if self.n is None:\n            self.n = x.shape[0]\n        return self.fc(x[: self.n])\n"
    )
    result = convert_source(source)
    assert [(d.id, d.line) for d in result.diagnostics] == [("taken-for-granted", 9)], result.code
    assert "nn.dry_run(self, jnp.zeros((2, 3)))" in result.code


VALUES = {
    "values": "y = self.cnn(torch.ones(1, 3, 12, 12))\nn = int(y.sum())",
    "kept": "self.y = self.cnn(torch.ones(1, 3, 12, 12))\nn = self.y.shape[1]",
    "a shape that follows from values": "n = self.cnn(torch.ones(1, 3, 12, 12)).nonzero().shape[0]",
    "one name of several": "y = z = self.cnn(torch.ones(1, 3, 12, 12))\nn = y.shape[1] + int(z.max())",
    "a mask": "y = self.cnn(torch.ones(1, 3, 12, 12))\nn = y[y > 0].shape[0]",
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_refused(name):
    source = MODULE.format(constructor=textwrap.indent(VALUES[name], " " * 8), methods="", forward=CNN)
    result = convert_source(source)
    assert "module-value" in {d.id for d in result.diagnostics}, result.code
    assert "dry_run" not in result.code
    with pytest.raises(NotImplementedError):
        both_modules(source, result)


def test_layers_without_effects_compute_in_constructors():
    result = same(
        HEAD
        + """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Softmax(dim=0)
        w = self.act(torch.arange(4.0))
        self.register_buffer("w", w)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x * self.w)
""",
        (2, 4),
    )
    assert "dry_run" not in result.code


def test_a_method_that_calls_modules_builds_nothing_whatever_its_name():
    source = (
        "import torch.nn as nn\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.z2init = nn.Linear(4, 8)\n\n"
        "    def get_init_hidden(self, latent):\n        return self.z2init(latent)\n\n    def forward(self, x):\n        return x\n"
    )
    result = convert_source(source)
    assert not result.diagnostics and 'return self.z2init(params["z2init"], latent)' in result.code
