"""Params that a function of the user's makes and returns: they are declared where it is called."""

import jax
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..proof.comparison import assert_close
from ..small_programs import HEAD, both_modules

MODULE = """
class M(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

        def inner():
            return nn.Parameter(torch.randn(self.n, 2))

        {made}

    def forward(self, x):
        return x @ self.w + self.b
"""
BEFORE = """
def outer(n, scale=1.0):
    return nn.Parameter(scale * torch.randn(n, 2))


def of_values(t):
    return nn.Parameter(t)

"""
MADE = {
    "inside, each": "self.w = inner()\n        self.b = inner()",
    "of a file": "self.w = outer(n)\n        self.b = outer(n, scale=2.0)",
    "of values": "self.w = of_values(torch.ones(n, 2))\n        self.b = of_values(torch.zeros(2))",
    "of drawn values": "self.w = of_values(torch.randn(n, 2))\n        self.b = of_values(torch.rand(2))",
    "filled afterwards": "self.w = outer(n)\n        self.b = of_values(torch.empty(2))\n        nn.init.ones_(self.w)\n        nn.init.zeros_(self.b)",
    "on one way": "self.w = outer(n) if n > 2 else inner()\n        self.c = outer(n) if n > 9 else None\n        if n > 2:\n            self.b = of_values(torch.zeros(2))\n        else:\n            self.b = of_values(torch.ones(2))",
}


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", MADE)
def test_the_params_are_those_of_torch(name):
    source = HEAD + BEFORE + MODULE.format(made=MADE[name])
    result = convert_source(source)
    assert not result.diagnostics, result.code
    torch_side, jax_side = both_modules(source, result, 3)
    made = jax_side.init(jax.random.key(0))
    assert {k: v.shape for k, v in made.items()} == {k: tuple(v.shape) for k, v in torch_side.state_dict().items()}
    params, _ = from_torch(torch_side, jax_side)
    x = torch.randn(3, 3)
    assert_close(jax_side(params, x.numpy()), torch_side(x).detach().numpy(), err_msg=result.code)


FILLING = {
    "its data": ("self._fill(self.w.data)", "def _fill(self, w):\n        w.copy_(torch.arange(2.0 * self.n).reshape(w.shape))"),
    "by an initialiser": ("self._fill(self.w, 0.5)\n        self._fill(self.b, 0.25)", "def _fill(self, t, value):\n        nn.init.constant_(t, value)"),
    "where it is there": ("if self.w is not None:\n            self._fill(self.w.data)", "def _fill(self, w):\n        size = w.size(-1)\n        w.copy_(torch.from_numpy(np.eye(self.n, size)))"),
    "by a static method": ("self._fill(self.w)", "@staticmethod\n    def _fill(w):\n        with torch.no_grad():\n            w.mul_(0).add_(3)"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILLING)
def test_methods_give_params_their_values(name):
    called, method = FILLING[name]
    source = f"{HEAD}import numpy as np\n\n\nclass M(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.n = n\n        self.w, self.b = nn.Parameter(torch.ones(n, 2)), nn.Parameter(torch.ones(2))\n        {called}\n\n    {method}\n\n    def forward(self, x):\n        return x @ self.w + self.b\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_side, jax_side = both_modules(source, result, 3)
    made = jax_side.init(jax.random.key(0))
    for path, value in torch_side.state_dict().items():
        np.testing.assert_array_equal(made[path], value.numpy(), err_msg=result.code)


DRAWN = """
def noise(n, scale=1.0):
    w = torch.empty(n, 2)
    nn.init.uniform_(w, -scale, scale)
    return w


def several(n):
    parts = [noise(n) for _ in range(2)]
    return torch.cat(parts, 1)


def table(kind, n):
    if kind == "uniform":
        w = torch.empty((n, 2))
        nn.init.uniform_(w, 0.5, 1.0)
    elif kind == "line":
        w = torch.linspace(0.5, 1, n).view(-1, 1)
    else:
        raise ValueError(kind)
    return nn.Parameter(w)


class M(nn.Module):
    def __init__(self, n=3, kind="uniform"):
        super().__init__()
        self.w = nn.Parameter(noise(n) * 2)
        self.register_buffer("b", noise(n, 0.5))
        c = several(n)
        self.register_buffer("c", c[:, :2])
        self.u = nn.Parameter(self.made(n))
        self.t = table(kind, n)
        self.s = table("line", n)

    def made(self, n):
        return torch.rand(n, 2)

    def forward(self, x):
        return x @ (self.w + self.b + self.c + self.u + self.t + self.s).t()
"""


def test_functions_that_draw_get_keys():
    source = HEAD + DRAWN
    result = convert_source(source)
    assert not result.diagnostics, result.diagnostics
    torch_side, jax_side = both_modules(source, result)
    first, second = ({**jax_side.init_state(jax.random.key(k)), **jax_side.init(jax.random.key(k))} for k in (0, 1))
    assert {k: v.shape for k, v in first.items()} == {k: tuple(v.shape) for k, v in torch_side.state_dict().items()}
    for name, least, most in (("w", -2, 2), ("b", -0.5, 0.5), ("c", -1, 1), ("u", 0, 1), ("t", 0.5, 1)):
        assert (first[name] != second[name]).all() and least <= first[name].min() and first[name].max() <= most, name
    np.testing.assert_allclose(first["s"], np.linspace(0.5, 1, 3)[:, None])
    assert (first["c"][:, 0] != first["c"][:, 1]).all()  # each turn draws of its own
    params, state = from_torch(torch_side, jax_side)
    x = torch.randn(4, 2)
    assert_close(jax_side(params, state, x.numpy())[0], torch_side(x).detach().numpy(), err_msg=result.code)
