"""Copies that begin with the weights of another: momentum encoders and target networks."""

import textwrap

import jax
import jax.numpy as jnp
import pytest

from transpile import convert_source

from ..small_programs import HEAD, load

MADE = {
    "a loop over both": "self.a = net(3)\nself.b = net(3)\nfor p, q in zip(self.a.parameters(), self.b.parameters()):\n    q.data.copy_(p.data)  # start\n    q.requires_grad = False",
    "the other way around": "self.a = net(3)\nself.b = net(3)\nfor q, p in zip(self.b.parameters(), self.a.parameters()):\n    q.data = p.data",
    "a state_dict": "self.a = net(3)\nself.b = net(3)\nself.b.load_state_dict(self.a.state_dict())",
    "both changed": "# encoders\nself.a = net(3)\nself.b = net(3)\nif big:\n    n = 3\n    self.a.fc = nn.Linear(n, 4)\n    self.b.fc = nn.Linear(n, 4)\nself.b.load_state_dict(self.a.state_dict())",
}
MODULE = HEAD + """
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, 4)

    def forward(self, x):
        return self.fc(x)


class M(nn.Module):
    def __init__(self, net, big=False):
        super().__init__()
{body}
        self.register_buffer("queue", torch.randn(3, 4))

    def forward(self, x):
        return self.a(x), self.b(x)
"""


@pytest.mark.parametrize("name", MADE)
def test_both_start_equal(name):
    source = MODULE.format(body=textwrap.indent(MADE[name], " " * 8))
    result = convert_source(source)
    assert {d.id for d in result.diagnostics} <= {"frozen-param"}, (result.diagnostics, result.code)
    scope = load(result)
    module = scope["M"](scope["Net"])
    params, state = module.init(jax.random.key(0)), module.init_state(jax.random.key(1))
    (a, b), _ = module(params, state, jnp.ones((2, 3)))
    assert (a == b).all() and (a != 0).all(), result.code


def test_modules_made_apart_are_no_copies():
    body = "self.a = net(3)\nself.b = net(4)\nself.b.load_state_dict(self.a.state_dict())"
    source = MODULE.format(body=textwrap.indent(body, " " * 8))
    assert "deepcopy" not in convert_source(source).code


STACK = HEAD.replace("import math\n", "import copy\n") + """
class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)
        self.norm = nn.LayerNorm(d)

    def forward(self, x):
        return x + self.lin(self.norm(x))


def clones(module, n):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(n)])


class M(nn.Module):
    def __init__(self, layer, n=3):
        super().__init__()
{body}

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
# name -> the constructor, and whether the weights and the biases of the copies are equal
COPIED = {
    "by a function": ("self.layers = clones(layer, n)", True, True),
    "in place": ("self.layers = nn.ModuleList(copy.deepcopy(layer) for i in range(2))", True, True),
    "weights drawn again": ("self.layers = clones(layer, n)\nfor part in self.layers:\n    nn.init.xavier_uniform_(part.lin.weight)", False, False),
    "another part drawn again": ("self.layers = clones(layer, n)\nfor part in self.layers:\n    nn.init.normal_(part.norm.weight, std=0.1)", True, True),
    "drawn before": ("nn.init.xavier_uniform_(layer.lin.weight)\nself.layers = clones(layer, n)", True, True),
}


@pytest.mark.parametrize("name", COPIED)
def test_copies_in_a_list(name):
    body, weights, biases = COPIED[name]
    source = STACK.format(body=textwrap.indent(body, " " * 8))
    result = convert_source(source)
    assert not result.diagnostics and "deepcopy" not in result.code.partition("class M")[2], result.code
    scope = load(result)
    model = scope["M"](scope["Layer"](3))
    first, last = (model.init(jax.random.key(0))["layers"][i]["lin"] for i in "01")
    assert bool((first["weight"] == last["weight"]).all()) == weights
    assert bool((first["bias"] == last["bias"]).all()) == biases


def test_other_copies_are_reported():
    result = convert_source(STACK.replace("layer, n=3", "layer: Layer").format(body="        self.layers = nn.ModuleList([layer, copy.deepcopy(layer)])"))
    assert [d.id for d in result.diagnostics] == ["taken-for-granted"]
