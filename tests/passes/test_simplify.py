"""What is written at once has the same value, dtype and gradient; and where the pass finds it."""

import ast
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rules.rewrites import REWRITES
from tests.passes.operations_helper import Facts
from transpile.model.program import File
from transpile.model.statements import Block
from transpile.passes import simplify
from transpile.source.lower_ast import lower_statements
from transpile.source.splice import show


def statements(text):
    return lower_statements(ast.parse(text).body)


X = jnp.array([[0.5, -1.0, 2.0]])
SAMPLES = {"s": [(), (2, 3)], "r": [(2, 3), (3, 3)], "n": [2, 1], "e": [jnp.float16, jnp.float32], "t": [jnp.float16, int, None], "x": [X], "f": [jnp.float16, jnp.float32, None], "k": [jax.random.key(0)], "a": [-1.0, 0], "b": [2.0], "d": [0.5], "g": [4.0, 9.0], "m": ["fan_in", "fan_avg"], "p": ["normal", "uniform"]}


@pytest.mark.parametrize("pair", REWRITES, ids=map(str, range(len(REWRITES))))
def test_both_sides_are_equal(pair):
    before, after = pair
    names = list(inspect.signature(before).parameters)
    assert names == list(inspect.signature(after).parameters)
    for i in range(3):
        arguments = [SAMPLES[name][i % len(SAMPLES[name])] for name in names]
        one, other = before(*arguments), after(*arguments)
        if callable(one):  # an initialiser
            one, other = (made(jax.random.key(0), (3, 4)) for made in (one, other))
        if isinstance(one, jax.Array):
            assert one.dtype == other.dtype and np.array_equal(one, other)
        else:
            assert one == other


def simplified(text):
    file = File("a.py", "", Block(statements(text), "module"))
    simplify.run(file, Facts()).commit()
    return show(file.body.body[0])


SCALING = "jax.nn.initializers.variance_scaling"
ROWS = [
    (f'{SCALING}(math.sqrt(2) ** 2, "fan_in", "normal", in_axis=1, out_axis=0)', f'{SCALING}(2, "fan_in", "normal", in_axis=1, out_axis=0)'),
    (f'{SCALING}(math.sqrt(2) * 2, "fan_in", "normal", in_axis=1, out_axis=0)', f'{SCALING}(math.sqrt(2) * 2, "fan_in", "normal", in_axis=1, out_axis=0)'),
    ("jnp.zeros_like(jnp.ones((2, n), dtype=d))", "jnp.zeros((2, n), dtype=d)"),
    ("jnp.zeros((n,), dtype=int)", "jnp.zeros(n, dtype=int)"),
    ("jnp.ones((*shape,))", "jnp.ones((*shape,))"),
    ("jnp.zeros((n, 3)).astype(x.dtype)", "jnp.zeros((n, 3), dtype=x.dtype)"),
    ("jnp.ones((n, 3), dtype=int).astype(x.dtype).sum()", "jnp.ones((n, 3), dtype=x.dtype).sum()"),
    ("jnp.triu(jnp.ones((n, n)), k=1).astype(bool)", "jnp.triu(jnp.ones((n, n), dtype=bool), k=1)"),
    ("jnp.full((n,), -jnp.inf, dtype=float).astype(x.dtype)", "jnp.full((n,), -jnp.inf, dtype=x.dtype)"),
    ("jnp.full((n,), 0.1, dtype=float).astype(x.dtype)", "jnp.full((n,), 0.1, dtype=float).astype(x.dtype)"),
    ("jnp.full_like(jnp.zeros(3, dtype=int), k + 1)", "jnp.full(3, k + 1, dtype=int)"),
    ("jnp.full_like(jnp.zeros(3, dtype=d), 1)", "jnp.ones(3, dtype=d)"),
    ("jnp.full_like(jnp.zeros(3, dtype=d), 2)", "jnp.full_like(jnp.zeros(3, dtype=d), 2)"),
    ("jnp.broadcast_to(x * 2 + y, x.shape)", "x * 2 + y"),
    ("jnp.broadcast_to(jnp.where(m, jnp.tanh(self.x), y), self.x.shape)", "jnp.where(m, jnp.tanh(self.x), y)"),
    ("jnp.broadcast_to(jnp.roll(x, -1, axis=-1), x.shape)", "jnp.roll(x, -1, axis=-1)"),
    ("jnp.broadcast_to(x @ y, x.shape)", "jnp.broadcast_to(x @ y, x.shape)"),
    ("jnp.broadcast_to(x.mean(axis=0), x.shape)", "jnp.broadcast_to(x.mean(axis=0), x.shape)"),
    ("jnp.broadcast_to(y.at[i].add(x), x.shape)", "jnp.broadcast_to(y.at[i].add(x), x.shape)"),
    ("jnp.broadcast_to(x * 2, y.shape)", "jnp.broadcast_to(x * 2, y.shape)"),
    ("jnp.full_like(x, True)", "jnp.full_like(x, True)"),
    ("jnp.full_like(x, 1.0)", "jnp.ones_like(x)"),
    ("lax.stop_gradient(lax.stop_gradient(x))", "lax.stop_gradient(x)"),
    ("jnp.full_like(jnp.zeros(3), 0)", "jnp.zeros(3)"),
    ("jnp.full_like(jnp.zeros(3), -jnp.inf)", "jnp.full(3, -jnp.inf)"),
    ("jnp.full_like(jnp.zeros(3), v)", "jnp.full_like(jnp.zeros(3), v)"),
    ("f(lax.stop_gradient(x[0]).shape)", "f(x[0].shape)"),
    ("x.sum(axis=[0, -1]) + x.mean(axis=[1])", "x.sum(axis=(0, -1)) + x.mean(axis=1)"),
    ("x.sum(axis=[n])", "x.sum(axis=[n])"),
    (
        "jnp.expand_dims(jnp.expand_dims(jnp.expand_dims(x, 1), 0), -1)",
        "x[None, :, None, ..., None]",
    ),
    ("jnp.expand_dims(x[:, 0, :], 1)", "x[:, :1]"),  # and what else `kept` is for
    ("jnp.expand_dims(x[:, -1], 1)", "x[:, -1:]"),
    ("jnp.expand_dims(x[0, :, -2], 1)", "x[0, :, -2:-1]"),
    ("jnp.expand_dims(x[1:, :, 2], 1)", "x[1:, None, :, 2]"),
    ("jnp.expand_dims(x[:, 1, :], 2)", "x[:, 1, :, None]"),
    ("jnp.expand_dims(x[0], 1) + jnp.expand_dims(x[:, n], 1)", "x[0][:, None] + x[:, n][:, None]"),
    ("jnp.expand_dims(jnp.expand_dims(x, n), 0)", "jnp.expand_dims(x, n)[None]"),
    ("jnp.expand_dims(x + 1, -2) * jnp.expand_dims(x, 4)", "(x + 1)[..., None, :] * jnp.expand_dims(x, 4)"),
]


@pytest.mark.parametrize(("before", "after"), ROWS)
def test_where_they_stand(before, after):
    assert simplified(before) == after
