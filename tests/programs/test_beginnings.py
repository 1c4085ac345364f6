"""A Sequential that begins by writing its argument, or may: converted with the write, refused or reported where the argument is read again."""

import textwrap

import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

MODULE = HEAD + """
def act(kind):
    if kind == "relu":
        return nn.ReLU(inplace=True)
    return nn.Tanh()


def sequential(*layers):
    modules = []
    for layer in layers:
        if isinstance(layer, nn.Sequential):
            for inner in layer:
                modules.append(inner)
        elif isinstance(layer, nn.Module):
            modules.append(layer)
    return nn.Sequential(*modules)


class M(nn.Module):
    def __init__(self, n, flag=True):
        super().__init__()
{made}

    def forward(self, x):
        y = x * 2
        return self.body(y) + y
"""

# what makes self.body, of which the first layer does not write
PLAIN = {
    "grown in a loop": "layers = [nn.Linear(n, n)]\nfor i in range(2):\n    layers += [nn.ReLU(inplace=True), nn.Linear(n, n)]\nself.body = nn.Sequential(*layers)",
    "appended in a loop": "layers = []\nfor i in range(2):\n    layers.append(nn.Linear(n, n))\n    layers.append(nn.ReLU(inplace=True))\nself.body = nn.Sequential(*layers)",
    "the first replaced": "layers = []\nfor i in range(2):\n    layers.append(nn.ReLU(inplace=True))\n    layers.append(nn.Linear(n, n))\nif not flag:\n    layers = layers[1:]\nelse:\n    layers[0] = nn.ReLU(inplace=False)\nself.body = nn.Sequential(*layers)",
    "by a function": "self.body = sequential(nn.Linear(n, n), None, sequential(nn.ReLU(inplace=True), nn.Linear(n, n)), act('relu'))",
    "a layer or a Sequential": "if flag:\n    self.body = nn.Sequential(nn.Linear(n, n), nn.ReLU(inplace=True))\nelse:\n    self.body = nn.Linear(n, n)",
    "grown as a Sequential": "body = nn.Sequential(nn.Linear(n, n))\nbody.append(nn.ReLU(inplace=True))\nself.body = body",
}

# of which it writes, or may write: the diagnostic, if any
WRITING = {
    "written out": ("self.body = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(n, n))", ""),
    "appended in a loop": ("layers = []\nfor i in range(2):\n    layers.append(nn.ReLU(inplace=True))\n    layers.append(nn.Tanh())\nself.body = nn.Sequential(*layers)", "taken-for-granted"),
    "added by name": ("self.body = nn.Sequential()\nself.body.add_module('relu', nn.ReLU(inplace=True))\nself.body.add_module('tanh', nn.Tanh())", "taken-for-granted"),
    "a slice": ("layers = [nn.Tanh(), nn.ReLU(inplace=True), nn.Tanh()]\nself.body = nn.Sequential(*layers[1:])", "taken-for-granted"),
    "a slice of a Sequential": ("full = nn.Sequential(nn.Tanh(), nn.ReLU(inplace=True), nn.Tanh())\nself.body = full[1:]", "taken-for-granted"),
    "of one kind or another": ("self.body = nn.Sequential(act('relu' if flag else 'tanh'), nn.Linear(n, n))", "taken-for-granted"),
    "from a table": ("self.body = {'relu': nn.ReLU(inplace=True), 'tanh': nn.Tanh()}['relu' if flag else 'tanh']", "taken-for-granted"),
    "by a flag": ("self.body = nn.ReLU(flag)", "aliased-write"),
}  # fmt: skip


def _converted(made):
    source = MODULE.format(made=textwrap.indent(made, " " * 8))
    return convert_source(source), source


def _assert_equal(result, source):
    torch_module, jax_module = both_modules(source, result, 4)
    params, state = from_torch(torch_module, jax_module)
    x = torch.randn(3, 4)
    got = jax_module.apply(params, state, x.numpy())[0]
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), rtol=1e-4, atol=1e-5, err_msg=result.code)


@pytest.mark.parametrize("name", PLAIN)
def test_a_body_that_leaves_its_argument(name):
    result, source = _converted(PLAIN[name])
    assert not result.diagnostics, (result.diagnostics, result.code)
    _assert_equal(result, source)


@pytest.mark.parametrize("name", WRITING)
def test_a_body_that_writes_its_argument(name):
    body, reported = WRITING[name]
    result, source = _converted(body)
    assert [d.id for d in result.diagnostics] == ([reported] if reported else []), (result.diagnostics, result.code)
    if not reported:
        _assert_equal(result, source)


@pytest.mark.parametrize("first", ["nn.ELU(inplace=True)", "nn.Flatten(), nn.ELU(inplace=True)"])
def test_a_module_that_writes_by_its_body_is_refused_where_its_argument_is_read(first):
    inner = f"class Block(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.body = nn.Sequential({first}, nn.Linear(n, n))\n\n    def forward(self, x):\n        return self.body(x)\n\n\n"
    result = convert_source(HEAD + inner + MODULE.removeprefix(HEAD).format(made="        self.body = Block(n)").replace("self.body(y) + y", "y + self.body(y) * y"))
    assert {d.id for d in result.diagnostics} == {"mutated-argument"}, (result.diagnostics, result.code)
