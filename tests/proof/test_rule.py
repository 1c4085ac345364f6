"""The check of one rule: wrong ones fail, right ones pass, and those never compared fail too."""

import jax.numpy as jnp
import pytest
import torch

from tests.proof.findings import show_layer
from tests.proof.layers import outcomes
from tests.proof.rule import main, prove
from tests.proof.samples.by_hand import built, given
from transpile.layer import Module, layer
from transpile.rule import Unsupported, rule

X = torch.tensor([[1.0, -2.0, 0.5]], dtype=torch.float64)


@rule("torch.sinh")
def right(input):
    return jnp.sinh(input)


@rule("torch.sinh")
def wrong_values(input):
    return jnp.sin(input)


@rule("torch.abs")
def wrong_at_zero(input):
    return jnp.where(input > 0, input, -input)  # its slope at 0 is -1, torch's 0


@rule("torch.cumsum")
def wrong_dtype(input, dim):
    return jnp.cumsum(input, axis=dim, dtype=input.dtype)  # of whole numbers torch gives int64


@rule("torch.sinh", differs={"values": "a sine will do"})
def known_to_differ(input):
    return jnp.sin(input)


@rule("torch.sinh", differs={"values": "it was a sine once"})
def no_longer_different(input):
    return jnp.sinh(input)


@rule("torch.sinh")
def refusing(input):
    raise Unsupported("hyperbolic")


def proof(name, function, samples=None):
    return prove(
        name, [function], samples if samples is not None else [given(X)], own=[], seconds=0
    )


def test_a_right_rule_passes():
    found = proof("torch.sinh", right)
    assert found.ok and sum(v.gradient for v in found.verdicts) > 10


WRONG = [
    ("torch.sinh", wrong_values, [given(X)], "values"),
    ("torch.abs", wrong_at_zero, [given(X)], "gradient"),
    ("torch.cumsum", wrong_dtype, [given(X, 1)], "dtype"),
]


@pytest.mark.parametrize("name, function, samples, kind", WRONG, ids=[w[3] for w in WRONG])
def test_a_wrong_rule_fails(name, function, samples, kind):
    found = proof(name, function, samples)
    assert not found.ok and kind in {f.kind for f in found.findings}


def test_a_known_difference_passes_until_it_is_gone():
    assert proof("torch.sinh", known_to_differ).ok
    found = proof("torch.sinh", no_longer_different)
    assert not found.ok and "does not differ any more" in found.faults[0]


def test_a_rule_that_nothing_was_compared_of_fails():
    found = proof("torch.sinh", refusing, samples=[])
    assert not found.ok and "nothing was compared" in found.faults[0]
    assert 'SAMPLES = {"torch.sinh": ' in found.faults[0]


def test_a_name_without_a_rule_is_told():
    assert main(["torch.no_such_thing"]) == 2


@layer("torch.nn.Hardshrink")
class RightLayer(Module):
    def __call__(self, input):
        return jnp.where(jnp.abs(input) > 0.5, input, 0.0)


@layer("torch.nn.Hardshrink")
class WrongLayer(Module):
    def __call__(self, input):
        return input


@pytest.mark.parametrize("cls, right", [(RightLayer, True), (WrongLayer, False)])
def test_a_layer_is_compared_on_samples_by_hand(cls, right, wide, capsys):
    name, samples = "torch.nn.Hardshrink", [built().called(X)]
    found = list(outcomes(name, {name: [cls]}, samples, own=False))
    assert show_layer(name, [cls], found, 0.0) is right
    assert ("differs" in capsys.readouterr().out) is not right


def test_a_layer_that_nothing_was_compared_of_fails(capsys):
    assert not show_layer("torch.nn.Foo", [], [], 0.0)
    assert "built(" in capsys.readouterr().out
