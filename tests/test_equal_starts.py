"""Copies that begin with the weights of another: momentum encoders and target networks."""

import textwrap

import jax
import jax.numpy as jnp
import pytest

from transpile import convert_source

from .small_programs import HEAD, load

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
