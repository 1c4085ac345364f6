"""Lists of modules in lists, taken apart by loops and assignments: each name is called with the params of its own place."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

MODULE = """class M(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.layers, self.tokens = nn.ModuleList([]), nn.ParameterList([])
        for depth in (1, 2):
            for i in range(depth):
                conv = nn.Linear(n, n)
                ff = nn.Linear(n, n)
                bn = nn.BatchNorm1d(n) if i else None
                self.layers.append(nn.ModuleList([conv, nn.ModuleList([ff, bn])]))
                self.tokens.append(nn.Parameter(torch.randn(n)))
        self.pairs = nn.ModuleList([nn.ModuleList([nn.Linear(n, n), nn.Linear(n, n)]) for _ in range(2)])
        self.a, self.b = nn.Linear(n, n), nn.Linear(n, n)
        self.ends = nn.Sequential(nn.Linear(n, n), nn.Linear(n, n), nn.Linear(n, n))

    def forward(self, x):
"""
BODIES = {
    "a list in a list": "for conv, (ff, bn) in self.layers:\n    x = ff(conv(x))\n    if bn is not None:\n        x = bn(x)\nreturn x",
    "zipped": "for (conv, (ff, bn)), token in zip(self.layers, self.tokens):\n    x = ff(conv(x)) + token\nreturn x",
    "counted": "for i, (conv, (ff, _)) in enumerate(self.layers):\n    x = ff(conv(x)) + i\nreturn x",
    "assigned": "for layer in self.layers:\n    conv, (ff, bn) = layer\n    x = bn(ff(conv(x))) if bn is not None else conv(x)\nreturn x",
    "assigned after a loop over others": "for conv, ff in self.pairs:\n    x = ff(conv(x))\nfor layer in self.pairs:\n    conv, ff = layer\n    x = conv(ff(x)) * 2\nfor layer in self.layers:\n    conv, (ff, bn) = layer\n    if bn is not None:\n        x = bn(ff(x))\nreturn x",
    "of a local list": "pairs = list(self.pairs)\nfor conv, ff in pairs[:1] + pairs:\n    x = ff(conv(x))\nlayers = self.layers[1:]\nfor conv, (ff, bn) in layers:\n    x = bn(ff(x)) if bn is not None else conv(x)\nreturn x",
    "on two lines": "for layer in self.layers:\n    conv, block = layer\n    ff, _ = block\n    x = ff(conv(x))\nreturn x",
    "two at once": "a, b = self.a, self.b\nx = a(x) * b(x)\na = b = self.a\nreturn a(b(x))",
    "on one way": "a, b = self.a, self.b\nif x.ndim == 2:\n    a, b = self.b, self.ends[0]\nreturn a(x) * b(x)",
    "from a Sequential": "a, b, c = self.ends\nreturn c(a(b(x)))",
    "of a slice": "ends = self.ends[1:]\na, b = ends\nreturn a(x) - b(x)",
    "items of slices": "rest = self.layers[1:]\nx = rest[0][0](x) + self.pairs[1:][0][1](x)\nfor i, (conv, _) in enumerate(rest):\n    x = conv(x) - rest[i][0](x) * 2\nreturn x",
    "by a number that changes": "i = 0\na = self.ends[i]\ni = 1\nreturn a(x)",
    "swapped": "a, b = self.a, self.b\na, b = b, a\nreturn a(x) - b(x) * 2",
    "with a rest": "a = self.a\nfor a, *rest in self.pairs:\n    x = a(x)\nreturn x",
    "assigned over what a loop binds": "for layer in self.ends:\n    x = layer(x)\n    layer = self.a\n    x = layer(x)\nreturn x",
}


def _written(body):
    return HEAD + MODULE + "".join(f"        {line}\n" for line in body.splitlines())


@pytest.mark.parametrize("name", BODIES)
def test_each_name_has_its_params(name):
    source = _written(BODIES[name])
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    params, state = from_torch(torch_module, module)
    x = torch.randn(3, 4)
    for training in (False, True):
        got, _ = module.apply(params, state, jnp.asarray(x.numpy()), training=training)
        np.testing.assert_allclose(got, torch_module.train(training)(x).detach(), 1e-4, 1e-4, err_msg=result.code)


REFUSED = {
    "of another turn": "a = self.a\nfor b in self.ends:\n    x = a(x)\n    a = b\nreturn x",
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_followed_is_refused(body):
    assert {d.id for d in convert_source(_written(body)).diagnostics} == {"module-value"}


@pytest.mark.parametrize("made", ["if n:\n            ff = nn.Linear(n, n)\n        for i in range(2):\n            self.layers.append(nn.ModuleList([ff]))", "for i in range(2):\n            ff = nn.Linear(n, n)\n            for j in range(2):\n                self.layers.append(nn.ModuleList([ff]))"])
def test_one_module_of_many_turns_is_reported(made):
    body = f"class M(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.layers = nn.ModuleList([])\n        {made}\n\n    def forward(self, x):\n        for (ff,) in self.layers:\n            x = ff(x)\n        return x\n"
    assert [d.id for d in convert_source(HEAD + body).diagnostics] == ["shared-module"]


LOCAL = """class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.options = nn.ModuleDict({{"a": nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.0)), "b": nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 4), nn.Dropout(0.0))}})
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x):
        {name} = "b" if x.ndim == 2 else "a"
        x = self.options[{name}](x)
        for {name} in range(2):
            x = self.layers[{name}](x) + self.layers[{name} - 1](x)
        return x
"""


@pytest.mark.parametrize("name", ["key", "state", "params", "training"])
def test_a_local_name_that_effects_have(name):
    source = HEAD + LOCAL.format(name=name)
    result = convert_source(source)
    assert not result.diagnostics, result.code
    torch_module, module = both_modules(source, result)
    params, state = from_torch(torch_module, module)
    x = torch.randn(3, 4)
    got, _ = module.apply(params, state, jnp.asarray(x.numpy()), key=jax.random.key(0), training=True)
    np.testing.assert_allclose(got, torch_module(x).detach(), 1e-4, 1e-5, err_msg=result.code)
