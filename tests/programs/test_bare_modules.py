"""`down = nn.Module()` that holds what is set on it: each submodule is called with its own params."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

# name -> the body of the constructor of M, and that of its forward
PROGRAMS = {
    "under a name": ("self.mid = nn.Module()\nself.mid.block = nn.Linear(3, 3)\nself.mid.norm = nn.LayerNorm(3)", "return self.mid.norm(self.mid.block(x))"),
    "in a list": (
        "self.down = nn.ModuleList()\nfor i in range(3):\n    block = nn.ModuleList()\n    for _ in range(2):\n        block.append(nn.Linear(3, 3))\n"
        "    down = nn.Module()\n    down.block = block\n    if i != 2:\n        down.downsample = nn.LayerNorm(3)\n    self.down.append(down)",
        "for i in range(3):\n    for j in range(2):\n        x = self.down[i].block[j](x)\n    if i != 2:\n        x = self.down[i].downsample(x)\nreturn x",
    ),
    "put in front": (
        "self.up = nn.ModuleList()\nfor i in reversed(range(2)):\n    up = nn.Module()\n    up.lin = nn.Linear(3, 3)\n    self.up.insert(0, up)",
        "for up in self.up:\n    x = up.lin(x)\nreturn x",
    ),
    "one in another": ("self.mid = nn.Module()\nself.mid.inner = nn.Module()\nself.mid.inner.lin = nn.Linear(3, 3)", "return self.mid.inner.lin(x)"),
    "added by a method": ("self.mid = nn.Module()\nself.mid.add_module('lin', nn.Linear(3, 3))", "return self.mid.lin(x)"),
    "params and numbers": ("self.mid = nn.Module()\nself.mid.scale = nn.Parameter(torch.ones(3))\nself.mid.rate = 0.5", "return x * self.mid.scale + self.mid.rate"),
    "registered params": ("self.mid = nn.Module()\nself.mid.register_parameter('scale', nn.Parameter(torch.ones(3)))\nself.mid.register_parameter('bias', None)", "return x * self.mid.scale if self.mid.bias is None else x"),
    "under computed names": ("self.mid = nn.Module()\nfor i in range(2):\n    self.mid.register_parameter(f'w_{i}', nn.Parameter(torch.randn(3)))", "for i in range(2):\n    x = x * getattr(self.mid, f'w_{i}')\nreturn x"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_submodule_has_its_params(name):
    constructor, forward = ("".join(f"        {line}\n" for line in body.splitlines()) for body in PROGRAMS[name])
    source = f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n{constructor}\n    def forward(self, x):\n{forward}"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    params, _ = from_torch(torch_module, module)
    assert jax.tree.structure(params) == jax.tree.structure(module.init(jax.random.key(0)))
    x = torch.randn(2, 3)
    got = jax.jit(module)(params, jnp.asarray(x.numpy()))
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), 1e-5, 1e-6, err_msg=result.code)


def test_state_and_draws_are_threaded():
    source = HEAD + (
        "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.mid = nn.Module()\n        self.mid.norm = nn.BatchNorm1d(3)\n"
        "        self.mid.drop = nn.Dropout(0.5)\n\n    def forward(self, x):\n        return self.mid.drop(self.mid.norm(x))\n"
    )
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    params, state = from_torch(torch_module, module)
    x = torch.randn(4, 3)
    _, state = module(params, state, jnp.asarray(x.numpy()), key=jax.random.key(0), training=True)
    torch_module(x)
    np.testing.assert_allclose(state["mid"]["norm"]["running_mean"], torch_module.mid.norm.running_mean.numpy(), 1e-5, 1e-6)


# name -> what the constructor of M puts into self.noises, and what its forward reads of it
BUFFERS = {
    "under a name": ("self.noises.register_buffer('a', torch.randn(3))", "[self.noises.a]"),
    "by keywords": ("self.noises.register_buffer(name='a', tensor=torch.ones(3), persistent=True)", "[self.noises.a]"),
    "under computed names": ("for i in range(3):\n    shape = [1, 3]\n    self.noises.register_buffer(f'noise_{i}', torch.randn(*shape) * i)", "[getattr(self.noises, f'noise_{i}') for i in range(3)]"),
    "beside params": ("self.noises.register_buffer('a', torch.randn(3))\nself.noises.register_parameter('b', nn.Parameter(torch.ones(3)))", "[self.noises.a * self.noises.b]"),
}  # fmt: skip


@pytest.mark.parametrize("name", BUFFERS)
def test_buffers_are_state(name):
    constructor, read = BUFFERS[name]
    constructor = "".join(f"        {line}\n" for line in constructor.splitlines())
    source = f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.noises = nn.Module()\n{constructor}\n    def forward(self, x, noise=None):\n        if noise is None:\n            noise = {read}\n        for n in noise:\n            x = x * 2 + n\n        return x\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    params, state = from_torch(torch_module, module)
    assert jax.tree.structure(state) == jax.tree.structure(module.init_state(jax.random.key(0)))
    x = torch.randn(2, 3)
    arrays = (params, state) if "params" in inspect.signature(module.__call__).parameters else (state,)
    got, _ = jax.jit(module)(*arrays, jnp.asarray(x.numpy()))
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), 1e-5, 1e-6, err_msg=result.code)
