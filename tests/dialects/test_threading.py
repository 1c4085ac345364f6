"""State and keys as values: methods in the layers' words, before and after."""

import textwrap

import pytest

from .equinox_programs import written

HEAD = """
import jax
import jax.numpy as jnp
from transpile.layer import Module, Parameter, Buffer, draw_key
from .linear import Linear
from .dropout import Dropout
from .batch_norm import BatchNorm1d


class Net(Module):
    def __init__(self):
        self.bn = BatchNorm1d(3)
        self.drop = Dropout(0.5)
        self.hits = Buffer(jnp.zeros(()))

"""

CASES = {
    "taken out": (
        "return jax.nn.relu(self.bn(x)) * 2",
        """
        x, state = self.bn(x, state)
        return jax.nn.relu(x) * 2, state
        """,
    ),
    "handed on": ("return self.bn(x + 1)", "return self.bn(x + 1, state)"),
    "inner before outer": (
        "y = self.bn(self.bn(x))\nreturn y",
        """
        y, state = self.bn(x, state)
        y, state = self.bn(y, state)
        return y, state
        """,
    ),
    "what stands before it": (
        "return self.hits + self.count(x)",
        """
        before = state.get(self.hits)
        x, state = self.count(x, state)
        return before + x, state
        """,
    ),
    "two that give a state": (
        "return self.bn(x) + self.bn(self.bn(x) if x.ndim > 1 else x)",
        """
        bn_out, state = self.bn(x, state)
        if x.ndim > 1:
            y, state = self.bn(x, state)
        else:
            y = x
        bn_out_, state = self.bn(y, state)
        return bn_out + bn_out_, state
        """,
    ),
    "what may not be put off": (
        "return x.pop() + self.bn(x.pop())",
        """
        before = x.pop()
        bn_out, state = self.bn(x.pop(), state)
        return before + bn_out, state
        """,
    ),
    "a conditional": (
        "x = self.bn(x) if x.ndim > 1 else x\nreturn x",
        """
        if x.ndim > 1:
            x, state = self.bn(x, state)
        return x, state
        """,
    ),
    "a conditional inside": (
        "return x + (self.bn(x) if x.ndim > 1 else x)",
        """
        if x.ndim > 1:
            y, state = self.bn(x, state)
        else:
            y = x
        return x + y, state
        """,
    ),
    "and": (
        "return x.ndim > 1 and self.bn(x)",
        """
        y = x.ndim > 1
        if y:
            y, state = self.bn(x, state)
        return y, state
        """,
    ),
    "a comprehension": (
        "return [self.bn(y) + 1 for y in x if y.ndim]",
        """
        made = []
        for y in x:
            if y.ndim:
                bn_out, state = self.bn(y, state)
                made.append(bn_out + 1)
        return made, state
        """,
    ),
    "a test": (
        "while self.bn(x).sum() < 3:\n    x = x * 2\nreturn x",
        """
        while True:
            bn_out, state = self.bn(x, state)
            if not bn_out.sum() < 3:
                break
            x = x * 2
        return x, state
        """,
    ),
    "no return": (
        "self.hits = self.hits + 1",
        """
        state = state.set(self.hits, state.get(self.hits) + 1)
        return None, state
        """,
    ),
    "alone": ("self.bn(x)\nreturn", "_, state = self.bn(x, state)\nreturn None, state"),
    "draws": (
        "return self.drop(x) + jax.random.normal(draw_key(), x.shape)",
        """
        keys = nn.split(key, 2)
        return self.drop(x, key=keys[0]) + jax.random.normal(keys[1], x.shape)
        """,
    ),
    "sides share": (
        "if x.ndim > 1:\n    x = self.drop(x)\nelse:\n    x = self.drop(x + 1)\nreturn x",
        """
        if x.ndim > 1:
            x = self.drop(x, key=key)
        else:
            x = self.drop(x + 1, key=key)
        return x
        """,
    ),
    "turns": (
        "for y in x:\n    x = self.drop(self.drop(x))\nreturn x",
        """
        for y, k in zip(x, nn.split(key, len(x))):
            keys = nn.split(k, 2)
            x = self.drop(self.drop(x, key=keys[0]), key=keys[1])
        return x
        """,
    ),
    "turns that are counted": (
        "return [self.drop(x) + i for i in range(3)] + [self.drop(x) for _ in range(2)]",
        """
        keys = nn.split(key, 2)
        return [self.drop(x, key=k) + i for i, k in enumerate(nn.split(keys[0], 3))] + [self.drop(x, key=k) for k in nn.split(keys[1], 2)]
        """,  # noqa: E501
    ),
    "turns from a number on": (
        """for i in range(1, x):
    x = self.drop(x) + i
for i in range(0, 3):
    x = self.drop(x) + i
for i in range(x, 3):
    x = self.drop(x) + i
return x""",
        """
        keys = nn.split(key, 3)
        for i, k in enumerate(nn.split(keys[0], max(x - 1, 0)), 1):
            x = self.drop(x, key=k) + i
        for i, k in enumerate(nn.split(keys[1], 3)):
            x = self.drop(x, key=k) + i
        for i, k in zip(range(x, 3), nn.split(keys[2], max(3 - x, 0))):
            x = self.drop(x, key=k) + i
        return x
        """,
    ),
    "turns that nobody counts": (
        "while x.sum() < 3:\n    x = self.drop(x)\nreturn x",
        """
        stream = nn.key_stream(key)
        while x.sum() < 3:
            k = next(stream)
            x = self.drop(x, key=k)
        return x
        """,
    ),
    "names of the user's": (
        "key = x.shape\nstate = 1\nreturn self.bn(self.drop(x)), key, state",
        """
        key_ = x.shape
        state_ = 1
        bn_out, state = self.bn(self.drop(x, key=key), state)
        return (bn_out, key_, state_), state
        """,
    ),
    "mode": ("return x if self.training else -x", "return x if not self.inference else -x"),
}


@pytest.mark.parametrize("name", CASES)
def test_before_and_after(name):
    before, after = CASES[name]
    count = "\n    def count(self, x):\n        self.hits = self.hits + x\n        return x\n"
    body = textwrap.indent(before, " " * 8)
    text, _, found = written(f"{HEAD}    def __call__(self, x):\n{body}\n{count}")
    assert not found
    made = text.split("def __call__")[1].partition("\n")[2].split("\n    def count")[0]
    assert textwrap.dedent(made).strip() == textwrap.dedent(after).strip()
