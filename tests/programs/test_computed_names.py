"""Arrays under computed names, `self.register_buffer(f"u{i}", u)`: params and state by these names, also where they are written."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from flax import nnx

from transpile import convert_source, from_torch, to_torch

from ..dialects.verified import verify
from ..proof.comparison import assert_close
from ..small_programs import HEAD, both_modules

FILL = "def fill(us, x):\n    for i, u in enumerate(us):\n        us[i][:] = u + x[1]\n\n\n"
LISTED = "\n    @property\n    def us(self):\n        return [getattr(self, 'u%d' % i) for i in range(3)]\n"

# name -> what a turn of the constructor's loop registers, what forward does, and what stands beside these
PROGRAMS = {
    "params": ("self.register_parameter(f'w{i}', nn.Parameter(torch.randn(4)))", "for i in range(3):\n    x = x * getattr(self, f'w{i}')\nreturn x", ""),
    "drawn": ("self.register_buffer('u%d' % i, torch.randn(4))", "return x + getattr(self, 'u%d' % 1) + self.u2", ""),
    "a constant beside params": (
        "self.register_buffer('mask_' + str(i), torch.arange(4.0) + i)\nsetattr(self, f'w{i}', nn.Parameter(torch.randn(4)))",
        "for i in range(3):\n    x = x * getattr(self, 'mask_{}'.format(i)) + getattr(self, f'w{i}')\nreturn x",
        "",
    ),
    "set": ("self.register_buffer(f'u{i}', torch.zeros(4))", "for i in range(3):\n    setattr(self, f'u{i}', getattr(self, f'u{i}') * 0.9 + x.mean(0))\nreturn x + self.u1", ""),
    "written": ("self.register_buffer(f'u{i}', torch.zeros(4))", "for i in range(3):\n    getattr(self, f'u{i}').mul_(0.9).add_(x[0])\n    getattr(self, f'u{i}')[:2] = x[1, :2]\nreturn x + self.u1", ""),
    "written by a local name": (
        "self.register_buffer(f'u{i}', torch.ones(4))",
        "for i in range(3):\n    u = getattr(self, f'u{i}')\n    u.mul_(0.9)\n    u[1:] += x[0, 1:]\n    x = x + u\nreturn x + getattr(self, f'u{0}')",
        "",
    ),
    "a property that lists them": ("self.register_buffer('u%d' % i, torch.ones(4))", "for i in range(3):\n    self.us[i][:] = x[i]\nreturn x + self.us[1] + sum(self.us)", LISTED),
    "written by a function": ("self.register_buffer('u%d' % i, torch.ones(4))", "fill(self.us, x)\nreturn x + self.u1", LISTED),
    "filled before they are set": (
        "w = nn.Parameter(torch.empty(4))\nb = nn.Parameter(torch.zeros(4))\nnn.init.normal_(w, 1.0, 0.1)\nif i:\n    setattr(self, f'w{i}', w)\nelse:\n    setattr(self, f'w{i}', None)",
        "if self.w0 is not None:\n    x = x * self.w0\nif getattr(self, f'w{1}') is not None:\n    x = x * self.w2\nreturn x * getattr(self, f'w{1}')",
        "",
    ),
    "a constant that only looks so": (
        "self.register_buffer(f'u{i}', torch.randn(4))",
        "return x @ self.u_d + self.u1",
        "        eye = torch.eye(4)\n        self.register_buffer('u_d', eye)\n",
    ),
    "names that only look so": ("self.register_buffer(f'w{i}', torch.randn(4))", "return x * self.width + self.w1", "    width = 2\n"),
}


def _source(name):
    registered, forward, beside = PROGRAMS[name]
    registered, forward = ("".join(f"{indent}{line}\n" for line in body.splitlines()) for body, indent in ((registered, " " * 12), (forward, " " * 8)))
    return f"{HEAD}{FILL}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        for i in range(3):\n{registered}{beside}\n    def forward(self, x):\n{forward}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_have_torchs_names_and_values(name):
    source = _source(name)
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    params, state = from_torch(torch_module, module)
    assert jax.tree.structure(params) == jax.tree.structure(module.init(jax.random.key(0)))
    assert jax.tree.structure(state) == jax.tree.structure(module.init_state(jax.random.key(0)))
    for _ in range(2):
        x = torch.randn(5, 4)
        got, state = jax.jit(module.apply)(params, state, jnp.asarray(x.numpy()))
        np.testing.assert_allclose(got, torch_module(x).detach().numpy(), 1e-5, 1e-6, err_msg=result.code)
        for key, value in torch_module.named_buffers():
            np.testing.assert_allclose(state.get(key, value), value.numpy(), 1e-5, 1e-6, err_msg=result.code)


MIXIN = """class Scaled(object):
    def __init__(self, n):
        for i in range(n):
            self.register_buffer("u%d" % i, torch.randn(1))

    def scaled(self):
        return self.weight * self.u0


class M(nn.Linear, Scaled):
    def __init__(self):
        nn.Linear.__init__(self, 4, 4)
        Scaled.__init__(self, 2)

    def forward(self, x):
        return F.linear(x, self.scaled(), self.bias)
"""


def test_a_mixin_reads_the_params_of_the_layer_that_it_is_put_before():
    result = convert_source(HEAD + MIXIN)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(HEAD + MIXIN, result)
    params, state = from_torch(torch_module, module)
    x = torch.randn(5, 4)
    np.testing.assert_allclose(module.apply(params, state, x.numpy())[0], torch_module(x).detach().numpy(), 1e-5, 1e-6, err_msg=result.code)


# what is written may be an array of self, and which is not known
REFUSED = {
    "a view": "u = getattr(self, f'u{i}').view(2, 2)\nu.mul_(2)",
    "another index by then": "u = getattr(self, f'u{i}')\ni = 2\nu.mul_(2)",
    "a name that is written out": "u, z = getattr(self, f'u{i}'), self.u1\nu.mul_(2)\nx = x + z",
    "one of two": "u = getattr(self, f'u{i}') if x.shape[0] > 2 else getattr(self, f'u{i + 1}')\nu.mul_(2)",
    "a list that is made otherwise": "fill(self.twice, x)",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_write_that_cannot_be_followed_is_refused(name):
    body = "".join(f"        {line}\n" for line in REFUSED[name].splitlines())
    source = (
        f"{HEAD}{FILL}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        for i in range(3):\n            self.register_buffer(f'u{{i}}', torch.zeros(4))\n\n"
        f"    @property\n    def twice(self):\n        return [self.u0, self.u1]\n\n    def forward(self, x, i):\n{body}        return x\n"
    )
    assert {d.id for d in convert_source(source).diagnostics} & {"aliased-write", "mutated-argument"}


BESIDE = HEAD + """class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.block1 = nn.Linear(4, 4)
        self.block2 = nn.Linear(4, 4)
        self.place1 = nn.Parameter(torch.randn(4))
        self.place2 = nn.Parameter(torch.randn(4))
        self.size_of_all = 4

    def part(self, name):
        return {}

    def forward(self, x, way="plain"):
        return {}
"""


def test_names_that_a_computed_name_may_be_tell_params_from_submodules():
    source = BESIDE.format("name", "getattr(self, f'block{1 + 1}')(x) * getattr(self, 'place%d' % 2) + getattr(self, 'size_of_' + ('all' if way else ''))")
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    params, state = from_torch(torch_module, module)
    x = torch.randn(5, 4)
    got, _ = jax.jit(module.apply)(params, state, jnp.asarray(x.numpy()))
    assert_close(got, torch_module(x).detach().numpy())


# name -> what a method returns, and what forward returns; the line that is reported
MIXED = {
    "a helper": ("getattr(self, name)", "self.part('block1')(x) * self.part('place1')", 18),
    "a hole": ("getattr(self, name + '1')", "self.part('block')(x)", 18),
    "with another value in its place": ("getattr(self, name, None)", "self.part('place1') + x", 18),
    "in forward": ("name", "getattr(self, way)(x)", 21),
    "what is neither": ("getattr(self, 'size_' + name)", "x * self.part('of_all')", None),
}


@pytest.mark.parametrize("name", MIXED)
def test_a_name_of_which_nobody_knows_whether_it_is_a_param_or_a_submodule_is_reported(name):
    method, forward, line = MIXED[name]
    found = convert_source(BESIDE.format(method, forward)).diagnostics
    assert [(d.id, d.line) for d in found] == ([("dynamic-attribute", line)] if line is not None else []), found


AGAIN = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.n = n
        for i in range(n):
            pos = nn.Parameter(torch.zeros(1, 4 + i))
            nn.init.normal_(pos, std=0.1)
            setattr(self, f"pos{i + 1}", pos)
        for i in range(n):
            pos = getattr(self, f"pos{i + 1}")
            nn.init.trunc_normal_(pos, std=0.02)
        for i in range(n):
            nn.init.constant_(getattr(self, f"pos{i + 1}"), 2.0 + i)

    def forward(self, x):
        return sum(getattr(self, f"pos{i + 1}")[:, :4] for i in range(self.n)) * x
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_a_constructor_fills_what_it_has_under_such_names(target):
    verify(AGAIN, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)
    scope = vars(sys.modules["converted"])
    if target == "functional":
        arrays = scope["Net"]().init(jax.random.key(0))
    else:
        made = scope["Net"](**{"rngs": nnx.Rngs(0)} if target == "flax" else {"key": jax.random.key(0)})
        arrays = to_torch(made) if target == "flax" else to_torch(made, None)
    assert [float(arrays[f"pos{i + 1}"].mean()) for i in range(3)] == [2.0, 3.0, 4.0]
