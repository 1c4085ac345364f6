"""A submodule that is replaced from outside of its class: the class calls the one or the other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, load

NET = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 2)\n\n    def forward(self, x):\n        return self.fc(x)\n\n\n"
REPLACED = {
    "in a function": "def M(kind):\n    m = Net()\n    if kind:\n        m.fc = nn.Identity()\n    return m\n",
    "around what it was": "def M(kind):\n    m = Net()\n    m.fc = nn.Sequential(nn.BatchNorm1d(2), m.fc) if kind else m.fc\n    return m\n",
    "in the table": "def M(kind):\n    m = Net()\n    if kind:\n        m._modules['fc'] = nn.Identity()\n    return m\n",
    "in a constructor": "class M(nn.Module):\n    def __init__(self, kind):\n        super().__init__()\n        self.net = Net()\n        if kind:\n            self.net.fc = nn.Identity()\n\n    def forward(self, x):\n        return self.net(x)\n",
    "in containers": "class M(nn.Module):\n    def __init__(self, kind):\n        super().__init__()\n        self.seq, self.all = nn.Sequential(Net(), nn.ReLU()), nn.ModuleList([Net(), Net()])\n        self.seq[0] = nn.BatchNorm1d(2)\n        if kind:\n            self.seq[-1] = nn.Dropout(0.0)\n        for i in range(2):\n            self.all[i] = nn.BatchNorm1d(2)\n\n    def forward(self, x):\n        x = self.seq(x)\n        for part in self.all:\n            x = part(x) + x\n        return x\n",
    "in a dict": "class M(nn.Module):\n    def __init__(self, kind):\n        super().__init__()\n        self.parts = nn.ModuleDict({'a': Net()})\n        self.parts['b'] = nn.BatchNorm1d(2)\n        if kind:\n            self.parts['a'] = nn.BatchNorm1d(2)\n\n    def forward(self, x):\n        return self.parts['a'](x) + self.parts['b'](x)\n",
}


@pytest.mark.parametrize("kind", [False, True])
@pytest.mark.parametrize("name", REPLACED)
def test_program(name, kind):
    source = HEAD + NET + REPLACED[name]
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    result = convert_source(source)
    assert not result.diagnostics, result.code
    module, made = scope["M"](kind), load(result)["M"](kind)
    x = np.random.default_rng(0).normal(size=(4, 2)).astype(np.float32)
    params, state = from_torch(module, made)
    got = made.apply(params, state, jnp.asarray(x), key=jax.random.key(0), training=True)[0]
    np.testing.assert_allclose(got, module(torch.from_numpy(x)).detach(), 1e-4, 1e-5, err_msg=result.code)


POOL = "class Pool(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.size = None\n\n    def forward(self, x):\n        self.size = x.shape[2] if self.size is None else self.size\n        return x[..., : self.size].mean(2)\n\n\n"
COMPUTED = {
    "by setattr": "def replace(model):\n    for n, m in model.named_children():\n        if isinstance(m, nn.AdaptiveAvgPool1d):\n            setattr(model, n, Pool())\n",
    "in the table": "def replace(model):\n    for n, m in model._modules.items():\n        if isinstance(m, nn.AdaptiveAvgPool1d):\n            model._modules[n] = Pool()\n",
}


@pytest.mark.parametrize("name", COMPUTED)
def test_under_a_computed_name_it_is_reported(name):
    """The calls were converted for a layer without state."""
    source = HEAD + POOL + COMPUTED[name]
    result = convert_source(source)
    assert [(d.id, d.line) for d in result.diagnostics] == [("taken-for-granted", len(source.splitlines()))], result.code
    assert "model.add_module(n, Pool())" in result.code


def test_a_class_fills_its_own_table():
    source = HEAD + "class M(nn.Module):\n    def __init__(self, _):\n        super().__init__()\n        for i in range(2):\n            self._modules[f'fc{i}'] = nn.Linear(2, 2)\n\n    def forward(self, x):\n        return self.fc1(self.fc0(x))\n"
    result = convert_source(source)
    assert not result.diagnostics, result.code
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    module, made, x = scope["M"](0), load(result)["M"](0), torch.randn(3, 2)
    params, _ = from_torch(module, made)
    np.testing.assert_allclose(made(params, x.numpy()), module(x).detach(), 1e-5, 1e-6, err_msg=result.code)


def test_a_module_with_an_index_of_its_own():
    source = HEAD + NET + "class Bank(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.parts = nn.ModuleList([Net(), Net()])\n\n    def __getitem__(self, i):\n        return self.parts[-i]\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bank = Bank()\n\n    def forward(self, x):\n        return self.bank[1](x)\n"
    assert {d.id for d in convert_source(source).diagnostics} == {"module-value"}
