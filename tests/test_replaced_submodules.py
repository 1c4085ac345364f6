"""A submodule that is replaced from outside of its class: the class calls the one or the other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from .small_programs import HEAD, load

NET = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 2)\n\n    def forward(self, x):\n        return self.fc(x)\n\n\n"
REPLACED = {
    "in a function": "def M(kind):\n    m = Net()\n    if kind:\n        m.fc = nn.Identity()\n    return m\n",
    "around what it was": "def M(kind):\n    m = Net()\n    m.fc = nn.Sequential(nn.BatchNorm1d(2), m.fc) if kind else m.fc\n    return m\n",
    "in a constructor": "class M(nn.Module):\n    def __init__(self, kind):\n        super().__init__()\n        self.net = Net()\n        if kind:\n            self.net.fc = nn.Identity()\n\n    def forward(self, x):\n        return self.net(x)\n",
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
