"""Weights of torch's in models of each target: filled by name, read back, and refused whole."""

import equinox as eqx
import jax
import numpy as np
import pytest
import torch
from flax import nnx

from transpile import from_torch, to_torch

from ..small_programs import speakers


class Torch(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3, 2))
        self.register_buffer("hits", torch.tensor(7))
        self.body = torch.nn.Sequential(torch.nn.Linear(2, 3, bias=False))

    def forward(self, x):
        return x @ self.weight + self.hits


class FlaxLinear(nnx.Module):
    def __init__(self, rngs):
        self.weight = nnx.Param(rngs.params.normal((3, 2)))


class Sequential(nnx.Module):  # as the support file has it
    def __init__(self, *layers):
        self.layers = nnx.List(layers)


class Flax(nnx.Module):
    def __init__(self, rngs):
        self.weight = nnx.Param(rngs.params.normal((3, 2)))
        self.hits = nnx.Variable(jax.numpy.zeros((), int))
        self.body = Sequential(FlaxLinear(rngs))
        self.drop = nnx.Dropout(0.5, rngs=rngs)


class EquinoxLinear(eqx.Module):
    weight: jax.Array


class EquinoxSequential(eqx.Module):
    layers: tuple


EquinoxSequential.__name__ = "Sequential"


class Equinox(eqx.Module):
    weight: jax.Array
    hits: eqx.nn.StateIndex
    body: eqx.Module

    def __init__(self):
        self.weight = jax.numpy.zeros((3, 2))
        self.hits = eqx.nn.StateIndex(jax.numpy.zeros((), int))
        self.body = EquinoxSequential((EquinoxLinear(jax.numpy.zeros((3, 2))),))


def flax():
    return Flax(nnx.Rngs(0))


@pytest.mark.parametrize("make", [flax, Equinox])
def test_there_and_back(make):
    source = Torch()
    filled = from_torch(source, make())
    found = to_torch(filled) if make is flax else to_torch(*filled)
    assert found.keys() == source.state_dict().keys()
    for name, value in source.state_dict().items():
        np.testing.assert_array_equal(found[name], value)


def test_a_model_whose_state_was_taken_already():
    source = Torch()
    model, _ = eqx.nn.make_with_state(Equinox)()
    model, state = from_torch(source.state_dict(), model)
    assert state.get(model.hits) == 7


@pytest.mark.parametrize("make", [flax, Equinox])
def test_what_does_not_fit_is_refused_by_name_and_nothing_is_filled(make):
    held = dict(Torch().state_dict())
    held["other"] = held.pop("hits")
    held["body.0.weight"] = torch.ones(1)
    model = make()
    before = np.asarray(model.weight)
    with pytest.raises(ValueError, match="missing: hits; surplus: other; .*shape: body.0.weight"):
        from_torch(held, model)
    np.testing.assert_array_equal(np.asarray(model.weight), before)


TARGETS = ["functional", "flax", "equinox"]


def back(target, filled):
    return to_torch(filled) if target == "flax" else to_torch(*filled)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("target", TARGETS)
def test_a_state_dict_there_and_back_in_its_dtype(target, dtype):
    theirs, make = speakers(target)
    model, other = theirs().to(dtype), theirs().to(dtype)
    held = back(target, from_torch(model.state_dict(), make(jax.random.key(0))))
    assert set(model.state_dict()) - set(held) == {"tokens.weight"}  # the other name of the tied one
    assert all(value.dtype == dtype for value in held.values() if value.is_floating_point())
    other.load_state_dict(held, strict=False)
    for name, value in model.state_dict().items():
        assert torch.equal(other.state_dict()[name], value), name
    assert other.tokens.weight is other.head.weight


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "name, told",
    [("norm.running_mean", "missing"), ("body.0.weight", "missing"), ("tail.0", "surplus"), ("norm.bias", "of another shape")],
)
def test_what_a_state_dict_lacks_or_has_more_is_named(target, name, told):
    theirs, make = speakers(target)
    held, model = dict(theirs().state_dict()), make(jax.random.key(0))
    if told == "missing":
        del held[name]
    else:
        held[name] = torch.ones(7)
    with pytest.raises(ValueError, match=f"do not fit; {told}: {name}$"):
        from_torch(held, model)


def test_a_tied_weight_may_have_one_name_in_a_file():
    for target in TARGETS:
        theirs, make = speakers(target)
        held = dict(theirs().state_dict())
        del held["tokens.weight"]
        assert "head.weight" in back(target, from_torch(held, make(jax.random.key(0))))


class Configured(eqx.Module):
    weight: jax.Array
    config: dict


def test_numbers_of_a_config_are_no_arrays_of_torchs():
    begun = Configured(jax.numpy.zeros(2), {"scale": np.sqrt(0.5)})
    model, _ = from_torch({"weight": torch.ones(2)}, begun)
    assert model.config == begun.config and model.weight.sum() == 2
    assert list(to_torch(model)) == ["weight"]


class Alike(eqx.Module):
    first: jax.Array
    second: jax.Array

    def __init__(self):
        self.first = self.second = jax.numpy.zeros(2)


def test_two_arrays_that_began_as_one_are_filled_apart():
    model, _ = from_torch({"first": torch.ones(2), "second": torch.full((2,), 3.0)}, Alike())
    assert model.first.sum() == 2 and model.second.sum() == 6
