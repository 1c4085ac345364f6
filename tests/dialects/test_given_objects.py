"""What is part of an object that a constructor is given, of which nobody says what it is."""

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from transpile.command import engine

from .small import HEAD
from .verified import converted, given

PROGRAM = """
class Part(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model.fc(x)


class Turns(nn.Module):
    def __init__(self, model: nn.Module, cfg):
        super().__init__()
        self.model, self.cfg = model, cfg

    def forward(self, x):
        for layer in self.model.encoder.layers:
            x = layer(x) * self.cfg.get("scale")
        return x


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
"""
LINES = [13, 23]


def _made(target):
    (made,), support, errors = engine.convert([given(HEAD + PROGRAM)], "", target)
    assert not errors
    return made, converted(made.code, support)


@pytest.mark.parametrize("target, lines", [("functional", LINES), ("equinox", LINES), ("flax", [])])
def test_it_is_told_where_it_is_called_without_what_it_may_need(target, lines):
    made, _ = _made(target)
    found = [(d.id, d.line) for d in made.diagnostics]
    assert found == [("taken-for-granted", line) for line in lines]


def test_it_trains_in_equinox():
    _, scope = _made("equinox")
    model = scope["Part"](scope["Inner"](key=jax.random.key(0)))
    slopes = eqx.filter_grad(lambda model, x: model(x).sum())(model, jnp.ones((2, 4)))
    assert jnp.all(slopes.model.fc.weight == 2)
