"""The functional output of the new engine: what constructors become, and what they are beside torch."""

import jax
import pytest
import torch

from transpile import convert_source
from transpile.command import engine
from transpile.source.files import Source

from .small import program
from .verified import PurePosixPath, converted, given, verify

HEAD = "import math\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n\n"
X = torch.randn(3, 4, dtype=torch.float64)

# a constructor's body, what `init` or `init_state` is then, what stays
MOVED = {
    "self.w = nn.Parameter(torch.ones(d))": 'return {"w": jnp.ones(self.d)}',
    "self.size = d; self.w = nn.Parameter(torch.ones(d))": 'return {"w": jnp.ones(self.size)}',
    "d = 2 * d; self.w = nn.Parameter(torch.ones(d))": 'return {"w": jnp.ones(self.d)}',
    "self.w = nn.Parameter(torch.ones(d)) if d > 2 else None": 'params["w"] = jnp.ones(self.d)',
    "self.k = d; self.w = nn.Parameter(torch.ones(self.k))": 'return {"w": jnp.ones(self.k)}',
    "self.k = d; self.w = nn.Parameter(torch.ones(self.k)); self.k *= 2": (
        'return {"w": jnp.ones(self.k_)}'  # it is another one once the model is built
    ),
    "self.fc = nn.Linear(d, d); nn.init.zeros_(self.fc.bias); self.fc = nn.Linear(d, 1)": (
        'nn.set_initializer(self.fc, "bias", jax.nn.initializers.zeros)'
    ),
    "self.fc = nn.Linear(d, d); nn.init.zeros_(self.fc.bias)": (
        'params["fc"]["bias"] = jnp.zeros_like(params["fc"]["bias"])'
    ),
    "t = torch.ones(d); t[0] = 2; self.w = nn.Parameter(t)": "t = t.at[0].set(2)",
    "self.register_buffer('m', torch.tril(torch.ones(d, d)))": (
        "return jnp.tril(jnp.ones((self.d, self.d)))"
    ),
    "self.register_buffer('hits', torch.zeros(d))": 'return {"hits": jnp.zeros(self.d)}',
    "for i in range(d): setattr(self, f'w{i}', nn.Parameter(torch.ones(i)))": (
        "nn.Parameter(lambda key, i=i: jnp.ones(i))"
    ),
    "self.fc = nn.Linear(d, d); nn.init.ones_(self.fc.bias); self.apply(reset)": (
        'nn.set_initializer(self.fc, "bias", jax.nn.initializers.ones)'
    ),
    "self.a = nn.Linear(d, d); self.b = nn.Linear(d, d); self.b.weight = self.a.weight": (
        'params["b"].pop("weight")  # tied to a.weight'
    ),
}
RESET = "def reset(m):\n    if isinstance(m, nn.Linear):\n        nn.init.zeros_(m.weight)\n\n\n"


def net(init, forward="return x"):
    lines = "\n        ".join(init.split("; "))
    return (
        f"{HEAD}{RESET}class Net(nn.Module):\n    def __init__(self, d):\n        super().__init__()\n"
        f"        {lines}\n\n    def forward(self, x):\n        {forward}\n"
    )


def convert(source):
    given = Source(PurePosixPath("m.py"), source, "utf-8", False, "\n")
    (made,), support, _ = engine.convert([given], "", "functional")
    return made, support


@pytest.mark.parametrize("init", MOVED)
def test_what_moves_to_init(init):
    made, _ = convert(net(init))
    assert not made.diagnostics
    assert MOVED[init] in made.code


def test_values_in_the_order_of_torch():
    """A walk after a value overtakes it; one before it does not."""
    first = "self.fc = nn.Linear(d, d); nn.init.ones_(self.fc.weight); self.apply(reset)"
    last = "self.fc = nn.Linear(d, d); self.apply(reset); nn.init.ones_(self.fc.weight)"
    for init, value in ((first, 0), (last, 1)):
        made, support = convert(net(init))
        params = converted(made.code, support)["Net"](3).init(jax.random.key(0))
        assert (params["fc"]["weight"] == value).all()


@pytest.mark.parametrize(
    "walk",
    [
        "for p in self.parameters(): nn.init.constant_(p, 2.0)",
        "for n, p in self.named_parameters(): nn.init.constant_(p, 2.0)",
    ],
)
def test_walks_over_params(walk):
    made, support = convert(net(f"self.fc = nn.Linear(d, d); {walk}"))
    assert not made.diagnostics
    params = converted(made.code, support)["Net"](3).init(jax.random.key(0))
    assert all((leaf == 2).all() for leaf in jax.tree.leaves(params))


RUNNING = {
    "a module that is handed on": (
        "self.fc = nn.Linear(d, d)",
        "return sum(map(self.fc, [x, 2 * x]))",
    ),
    "a list of params": (
        "self.ws = nn.ParameterList([nn.Parameter(torch.randn(d)) for _ in range(11)])",
        "return sum(i * w * x for i, w in enumerate(self.ws)) + self.ws[2]",
    ),
    "a tied layer": (
        "self.a = nn.Linear(d, d); self.b = nn.Linear(d, d); self.b.weight = self.a.weight",
        "return self.b(torch.tanh(self.a(x)))",
    ),
    "a container with a state": (
        "self.net = nn.Sequential(nn.Linear(d, d), nn.BatchNorm1d(d)); self.gain = 2",
        "return F.relu(self.net(x)) * self.gain + self.net[0](x)",
    ),
    "names of every module": (
        "self.fc = nn.Linear(d, d)",
        "params, key = self.fc(x), 2; return params * key",
    ),
    "params that a run lists": (
        "self.fc = nn.Linear(d, d)",
        "return self.fc(x) + 0.1 * sum(p.pow(2).sum() for p in self.parameters())",
    ),
}


# what no other place can make again, and the line that tells
REFUSED = {
    "k = 1; w = torch.ones(1)\n        for i in range(d):\n            self.k = i\n"
    "            w = torch.cat([w, torch.ones(self.k)])\n        self.w = nn.Parameter(w)": (
        "unsupported: self.k is another one in each turn"
    ),
    "self.a = nn.Linear(d, d); self.b = nn.Linear(d, d); self.b.weight = self.a.weight; "
    "self.b = nn.Linear(d, d)": "tied-weight: another module may be put later",
    "self.a = nn.Linear(d, d); self.b = nn.Linear(d, d, False); "
    "self.b.load_state_dict(self.a.state_dict())": "array-while-building: state_dict() is asked for",
}


@pytest.mark.parametrize("init", REFUSED)
def test_what_cannot_move_is_refused(init):
    (told,) = convert(net(init))[0].diagnostics
    assert f"{told.id}: {told.message}".startswith(REFUSED[init])


@pytest.mark.parametrize("name", RUNNING)
def test_beside_torch(name):
    init, forward = RUNNING[name]
    verify(net(init, forward.replace("; ", "\n        ")), "Net", "4", [X], "functional")


def test_a_sequential_of_the_users_takes_the_state_of_its_items():
    """Without one it would run on the statistics of the batch, without a word."""
    source = HEAD + (
        "class Net(nn.Sequential):\n    def __init__(self, d):\n"
        "        super().__init__(nn.Linear(d, d), nn.BatchNorm1d(d))\n"
    )
    verify(source, "Net", "4", [X], "functional")


def test_initial_values_that_are_given_under_the_name_of_an_array():
    """`bias` of the function is a number, beside the bias that a lambda is given."""
    source = HEAD + (
        "def constant_init(module, val, bias=0):\n"
        "    nn.init.constant_(module.weight, val)\n"
        "    nn.init.constant_(module.bias, bias)\n\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.norm_name = 'bn'\n"
        "        self.add_module(self.norm_name, nn.BatchNorm1d(4))\n"
        "        self.init_weights()\n\n"
        "    @property\n    def norm(self):\n        return getattr(self, self.norm_name)\n\n"
        "    def init_weights(self):\n        constant_init(self.norm, 2, bias=3)\n\n"
        "    def forward(self, x):\n        return self.norm(x)\n"
    )
    (made,), support, _ = engine.convert([given(source)], "", "functional")
    assert not made.diagnostics
    model = converted(made.code, support)["Net"]()
    params = model.init(jax.random.key(0))["bn"]
    assert (params["weight"] == 2).all() and (params["bias"] == 3).all()
    verify(source, "Net", "", [X], "functional")


def test_a_tie_in_a_loop_is_refused_by_name():
    text = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(d, d) for _ in range(n)])
        for i in range(1, n):
            self.layers[i].weight = self.layers[0].weight

    def forward(self, x):
        return self.layers[0](x)
"""
    assert [d.id for d in convert_source(text).diagnostics] == ["tied-weight"]


def test_layers_without_params_are_a_loop():
    text = """
from torch import nn


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.pools = nn.ModuleList([nn.AvgPool2d(3, 2, 1) for _ in range(n)])

    def forward(self, x):
        for pool in self.pools:
            x = pool(x)
        return x
"""
    code = convert_source(text).code
    assert "params" not in code and "scan_layers" not in code


def test_a_draw_that_a_method_registers_is_not_taken_for_its_shape():
    source = """import torch
from torch import nn


class M(nn.Module):
    def __init__(self, n):
        super().__init__()
        start = torch.rand(n) * 2 + 1
        self.register("start", start)

    def register(self, name, tensor):
        self.register_parameter(name, nn.Parameter(tensor))

    def forward(self, x):
        return x * self.start
"""
    result = convert_source(source)
    assert "jnp.zeros" not in result.code and ("random.uniform" in result.code or result.diagnostics)


def test_methods_that_only_a_script_calls_have_their_params():
    """Which makes a model, and gives it params where it does."""
    result = convert_source(program("methods_that_a_script_calls"))
    assert not result.diagnostics, result.diagnostics
    assert "net.value(params, jnp.zeros((1, 4)))" in result.code
    assert 'return self.head(params["head"], self.hidden(params, x))' in result.code
