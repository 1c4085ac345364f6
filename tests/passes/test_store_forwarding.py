"""Arrays that are made and then filled begin as what fills them."""

import textwrap

import pytest

from transpile import convert_source

HEAD = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n, d):
        super().__init__()
"""
FORWARD = """
    def forward(self, x):
        return x * self.w.sum()
"""
NORMAL = 'params["w"] = jax.random.normal(keys[1], (self.n, self.d))'
# name -> lines of a constructor, and how the param begins
FORWARDED = {
    "with its shape": (
        "self.w = nn.Parameter(torch.empty(n, d))\nself.fc = nn.Linear(n, d)\nnn.init.normal_(self.w)",
        NORMAL,
    ),
    "what was drawn first": (
        "self.w = nn.Parameter(torch.randn(n, d))\nself.fc = nn.Linear(n, d)\nnn.init.ones_(self.w)",
        'params["w"] = jnp.ones((self.n, self.d))',
    ),
    "of a type": (
        "self.w = nn.Parameter(torch.empty(n, d, dtype=torch.half))\n"
        "self.fc = nn.Linear(n, d)\nself.w.data.normal_()",
        'params["w"] = jax.random.normal(keys[1], (self.n, self.d), jnp.float16)',
    ),
}
KEPT = {
    "read between": "self.n2 = self.w.sum().item()\nnn.init.normal_(self.w)",
    "in part": "self.w.data[0] = 1",
    "handed on": "self.m = len(list(self.parameters()))\nnn.init.normal_(self.w)",
    "of what is set between": "s = n * 2.0\nnn.init.normal_(self.w, std=s)",
    "under a test": "if n > 1:\n    nn.init.normal_(self.w)",
}


def _converted(body):
    text = HEAD + textwrap.indent(body, " " * 8) + "\n" + FORWARD
    return convert_source(text).code


@pytest.mark.parametrize("name", FORWARDED)
def test_what_fills_it_is_what_it_begins_as(name):
    body, wanted = FORWARDED[name]
    code = _converted(body)
    assert wanted in code
    assert code.count('params["w"] = ') == 1


@pytest.mark.parametrize("name", KEPT)
def test_the_first_value_stays_where_it_may_be_seen(name):
    code = _converted("self.w = nn.Parameter(torch.zeros(n, d))\n" + KEPT[name])
    assert "jnp.zeros(" in code


def test_a_call_of_the_users_is_made_of_the_first_value():
    code = convert_source(
        "import torch\nfrom torch import nn\n\n\ndef half_(t):\n    return t.mul_(0.5)\n\n"
        + HEAD
        + "        self.w = nn.Parameter(torch.ones(n))\n        half_(self.w)\n"
        + FORWARD
    ).code
    assert '"w": half_(jnp.ones(self.n))' in code or '["w"] = half_(jnp.ones(self.n))' in code


LOCALS = {
    "drawn": ("e = torch.empty(n, d)\ne.normal_()", "e = jax.random.normal(keys[1], (self.n, self.d))"),
    "of a type": (
        "e = torch.empty(n, d, dtype=torch.half)\ne.uniform_()",
        "e = jax.random.uniform(keys[1], (self.n, self.d), jnp.float16)",
    ),
    "seen before": ("e = torch.zeros(n, d)\ns = e.sum()\ne.normal_()\ne = e + s", "e = jnp.zeros((self.n, self.d))"),
    "filled in part": ("e = torch.zeros(n, d)\ne[0] = 1", "e = jnp.zeros((self.n, self.d))"),
}


@pytest.mark.parametrize("name", LOCALS)
def test_a_local_array_begins_as_what_fills_it(name):
    body, wanted = LOCALS[name]
    code = _converted(body + "\nself.fc = nn.Linear(n, d)\nself.w = nn.Parameter(e)")
    assert wanted in code
