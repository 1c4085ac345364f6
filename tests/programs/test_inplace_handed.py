"""`inplace` for a layer or function that only the run tells: it is taken by every layer, dropped of functions, and what it writes follows."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, compare, load, three

TABLE = "ACTS = {'relu': F.relu, 'elu': F.elu, 'tanh': torch.tanh}\n\n\ndef get_act(name):\n    return ACTS[name]\n\n\n"
FUNCTIONS = {
    "read again": "def f(x, y):\n    act = get_act('relu')\n    z = x * 3\n    w = act(z, inplace=True)\n    return w * z + y",
    "not in place": "def f(x, y):\n    act = get_act('elu')\n    z = x * 3\n    w = act(z, inplace=False)\n    return w * z + y",
    "a parameter": "def g(t, act):\n    s = t * 2\n    r = act(s, inplace=True)\n    return r + s\n\n\ndef f(x, y):\n    return g(x, ACTS['relu']) + g(y, F.elu)",
    "a flag": "def g(t, flag):\n    act = get_act('relu')\n    s = t * 3\n    r = act(s, inplace=flag)\n    return r * s\n\n\ndef f(x, y):\n    return g(x, True) + g(y, False)",
    "an attribute": "class M(nn.Module):\n    def __init__(self, name, inplace=False):\n        super().__init__()\n        self.act = get_act(name)\n        self.inplace = inplace\n\n    def forward(self, x):\n        return self.act(x * 2, inplace=self.inplace).mul(0.5)\n\n\ndef f(x, y):\n    return M('relu')(x) + M('relu', True)(y)",
}  # fmt: skip


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    compare(TABLE + FUNCTIONS[name], three())


ACT = "act = nn.ReLU(inplace=True)\n\n\n"
CHAINED = {
    "a function of a write": "def f(x, y):\n    a = x * 2\n    return F.relu(a.add_(y), inplace=True)",
    "a function of a write, read again": "def f(x, y):\n    a = x * 2\n    b = torch.relu_(a.add_(y))\n    return a + b",
    "a function by a flag": "def g(x, y, flag):\n    a = x * 2\n    b = F.relu(a.add_(y), inplace=flag)\n    return a - b * 2\n\n\ndef f(x, y):\n    return g(x, y, True) + g(x, y, False)",
    "a layer of a write": "def f(x, y):\n    a = x * 2\n    act(a.add_(y))\n    return a * 2",
    "a layer of a view": "def f(x, y):\n    a = x * 2\n    b = act(a.view(-1))\n    return a * 2 + y, b",
    "a layer of what is new": "def f(x, y):\n    a = x * 2\n    b = act(a.mul(2).t())\n    return a * 2 + y, b",
}  # fmt: skip


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", CHAINED)
def test_what_is_written_is_written_again(name):
    compare(ACT + CHAINED[name], three())


def test_a_side_that_is_read_again_is_refused():
    body = "def f(x, y, flag):\n    a, b = x * 2, y * 2\n    c = act(a if flag else b)\n    return a + c\n"
    assert [(d.id, d.line) for d in convert_source(HEAD + ACT + body).diagnostics] == [("aliased-write", 13)]
    same = body.replace("a + c", "c")
    assert not convert_source(HEAD + ACT + same).diagnostics


# the parameters of M's constructor, the layer that it makes, and what M is given
LAYERS = {
    "by its place": ("d, act_layer=nn.ReLU", "act_layer(True)", {}),
    "another one by its place": ("d, act_layer=nn.ReLU", "act_layer(True)", {"act_layer": "SiLU"}),
    "after what it takes": ("d, layer=nn.LeakyReLU", "layer(0.2, True)", {"layer": "CELU"}),
    "of two classes": ("d, leaky=True", "(nn.LeakyReLU if leaky else nn.ELU)(0.2, True)", {}),
    "of a class that is given": ("d, act_layer", "act_layer(inplace=True)", {"act_layer": "ReLU"}),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    parameters, layer, given = LAYERS[name]
    source = f"{HEAD}class M(nn.Module):\n    def __init__(self, {parameters}):\n        super().__init__()\n        self.fc = nn.Linear(d, d)\n        self.act = {layer}\n\n    def forward(self, x):\n        y = self.fc(x)\n        z = self.act(y)\n        return z * y\n\n\nALL = nn.ReLU, nn.SiLU, nn.CELU\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope, converted = {}, load(result)
    exec(compile(source, "program.py", "exec"), scope)
    torch_side = scope["M"](3, **{word: getattr(torch.nn, layer) for word, layer in given.items()})
    jax_side = converted["M"](3, **{word: getattr(converted["nn"], layer) for word, layer in given.items()})
    params, state = from_torch(torch_side, jax_side)
    x = torch.randn(2, 3)
    got, _ = jax_side.apply(params, state, jnp.asarray(x.numpy()))
    np.testing.assert_allclose(got, torch_side(x).detach().numpy(), 1e-5, 1e-6, err_msg=result.code)
