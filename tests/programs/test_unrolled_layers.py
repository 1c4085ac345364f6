"""Submodules that a loop's head lists, and those that several local names get at once, are called with their own params."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules, leaves

MODULE = HEAD + """class M(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.conv1, self.bn1 = nn.Linear(n, n), nn.BatchNorm1d(n)
        self.conv2, self.bn2 = nn.Linear(n, n), nn.BatchNorm1d(n)
        self.layers = nn.Sequential(nn.Linear(n, n), nn.Tanh(), nn.Linear(n, n))
        self.drop = nn.Dropout(0.5)
        self.pair = [self.conv1, self.bn1]

    def forward(self, x):
"""
# name -> body of the forward of M
PROGRAMS = {
    "pairs": "for conv, bn in [(self.conv1, self.bn1), (self.conv2, self.bn2)]:\n    x = F.relu(bn(conv(x)))\nreturn x",
    "in a function inside": "def stem(x):\n    for conv, bn in [(self.conv1, self.bn1), (self.conv2, self.bn2)]:\n        x = F.relu(bn(conv(x)))\n    return x\nreturn stem(x) + 1",
    "one by one": "for layer in (self.bn1, self.conv1, self.bn2):\n    x = layer(x)\nfor layer in [self.conv2]:\n    x = layer(x)\nreturn x",
    "with an index": "out = []\nfor i, layer in enumerate([self.bn1, self.conv1]):\n    if i > 0:\n        out.append(layer(x) * i)\n    else:\n        out.append(layer(x))\nreturn out",
    "zip": "for bn, conv in zip((self.bn1, self.bn2), (self.conv1, self.conv2)):\n    x = bn(conv(x))\nreturn x",
    "a comprehension": "a, b = [f(x) for f in (self.conv1, self.bn1)]\nreturn a * b + sum([conv(x) for conv in [self.conv1, self.conv2]])",
    "with other things": "for layer, scale, name in [(self.conv1, 2.0, 'a'), (self.bn1, 3, 'b')]:\n    x = layer(x) * scale if name == 'a' else layer(x) + scale\nreturn x",
    "listed on self": "out = [x]\nfor layer in self.pair:\n    out.append(layer(out[-1]))\nfor i, layer in enumerate(reversed(self.pair)):\n    x = layer(x) + i\nreturn out[1:], x",
    "lists of layers": "for part in (self.layers, self.layers[1:]):\n    for layer in part:\n        x = layer(x)\nreturn x",
    "names at once": "f, h = self.bn1, self.conv1\nz = f(x)\nreturn h(z) + f(x)",
    "parts at once": "rest, last = self.layers[:-1], self.layers[-1]\nfirst, others = self.layers[0], self.layers[1:]\nreturn last(rest(x) + 1) * others(first(x))",
    "its name is read after it": "for f in [self.conv1, self.bn1]:\n    x = f(x)\nreturn f(x)",
    "what is listed changes in it": "y = x * 2\nfor f, z in [(self.conv1, x), (self.bn1, y)]:\n    x = f(z) + x\nreturn x",
    "it is left early": "for f in [self.conv1, self.bn1]:\n    x = f(x)\n    if x.dim() > 3:\n        break\nreturn x",
}  # fmt: skip


def module_of(body):
    source = MODULE + "".join(f"        {line}\n" for line in body.splitlines())
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    return (*both_modules(source, result), result.code)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_has_its_params_and_state(name):
    module, converted, code = module_of(PROGRAMS[name])
    params, state = from_torch(module, converted)
    x = torch.randn(5, 4)
    want = module(x)
    got = converted.apply(params, state, jnp.asarray(x.numpy()), training=True)
    for g, w in zip(leaves(got[0]), leaves(want), strict=True):
        np.testing.assert_allclose(g, w.detach(), 1e-5, 1e-5, err_msg=code)
    buffers = dict(module.named_buffers())
    for path, leaf in jax.tree_util.tree_leaves_with_path(got[1]):
        np.testing.assert_allclose(leaf, buffers[".".join(p.key for p in path)], 1e-5, 1e-5, err_msg=code)


def test_each_turn_draws_for_itself():
    _, converted, code = module_of("out = []\nfor conv, drop in [(self.conv1, self.drop), (self.conv1, self.drop)]:\n    out.append(drop(torch.ones_like(x)))\nreturn out")
    a, b = converted.apply({}, {}, jnp.ones((8, 8)), key=jax.random.key(0), training=True)[0]
    assert (a != b).any(), code


def test_a_diagnostic_stands_where_the_user_wrote_it():
    source = MODULE + "        a = 1; b = 2\n        for f in [self.conv1, self.bn1]:\n            x = f(x)\n            torch.load('x')\n        return x\n"
    (found,) = convert_source(source).diagnostics
    assert source.splitlines()[found.line - 1].strip() == "torch.load('x')"
