"""The words that layers are written with, run as they stand."""

import copy
import subprocess
import sys
from collections import OrderedDict

import jax
import jax.numpy as jnp
import pytest
import torch

from benchmarks.layer_definitions import Namespace, prepare
from transpile.layer import Buffer, Flat, Module, Parameter, draw_key, keys, tie, with_array

NN = Namespace(prepare()[1])
ONE, TWO = jnp.ones(3), 2 * jnp.ones(3)


class Inner(Module):
    def __init__(self):
        self.scale = Parameter(ONE)
        self.count = Buffer(jnp.zeros(()))
        self.cache = Buffer(ONE, persistent=False)
        self.shift = None

    def __call__(self, x):
        self.count = self.count + 1
        return x * self.scale


class Outer(Module):
    def __init__(self):
        self.inner = Inner()
        self.weight = Parameter(ONE)


class Beside(Module):
    """What it holds has the names of its own."""

    def __init__(self):
        self.module = Flat(Outer())
        self.extra = Parameter(TWO)


def test_importing_needs_neither_torch_nor_jax():
    program = "import sys, transpile.layer; assert not {'torch', 'jax', 'numpy'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_names_come_in_order_of_registration_and_own_arrays_first():
    assert list(Outer().state_dict()) == ["weight", "inner.scale", "inner.count"]
    assert [name for name, _ in Outer().named_buffers()] == ["inner.count", "inner.cache"]
    assert [name for name, _ in Outer().named_modules()] == ["", "inner"]


def test_a_flat_module_has_the_names_of_its_owner():
    assert list(Beside().state_dict()) == ["weight", "extra", "inner.scale", "inner.count"]


def test_reading_gives_the_array_and_assigning_a_new_value():
    module = Inner()
    module(ONE)
    module.scale = TWO
    assert module.state_dict()["count"] == 1 and (module.scale == TWO).all() and module.shift is None
    module.shift = Parameter(ONE)
    assert list(module.state_dict()) == ["scale", "shift", "count"]
    module.shift = None
    assert module.shift is None and list(module.state_dict()) == ["scale", "count"]
    with pytest.raises(TypeError):
        module.shift = ONE
    with pytest.raises(AttributeError):
        module.missing  # noqa: B018
    with pytest.raises(KeyError):
        module.load_state_dict({"scale": ONE})


def test_a_shared_array_is_listed_once_and_saved_twice():
    module = Outer()
    tie(module, "weight", module.inner, "scale")
    module.inner.scale = TWO
    assert (module.weight == TWO).all()
    assert [name for name, _ in module.named_parameters()] == ["weight"]
    assert list(module.state_dict()) == ["weight", "inner.scale", "inner.count"]
    other = copy.deepcopy(module)
    other.weight = ONE
    assert (other.inner.scale == ONE).all() and (module.weight == TWO).all()


def test_with_another_array_for_one_call():
    module = Inner()
    assert (with_array(module, "scale", TWO)(ONE) == TWO).all()
    assert (module.scale == ONE).all() and module.count == 1  # what is written reaches the module


def test_the_mode_reaches_what_is_below():
    module = Beside().eval()
    assert not module.module.inner.training and module.train().module.inner.training


def test_keys():
    with pytest.raises(RuntimeError, match="outside"):
        draw_key()
    with keys(jax.random.key(0)):
        drawn = [draw_key(), draw_key()]
        with keys(jax.random.key(1)):
            drawn.append(draw_key())
        drawn.append(draw_key())
    with keys(jax.random.key(0)):
        assert draw_key() == drawn[0]
    assert len({str(jax.random.key_data(key)) for key in drawn}) == 4


def lists(nn):
    blocks = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 3)])
    blocks.append(nn.Linear(3, 4))
    blocks.insert(0, nn.Linear(5, 2))
    blocks.extend([nn.Linear(4, 4)])
    blocks[1] = nn.Linear(2, 6)
    del blocks[2]
    return blocks + blocks[:1]


def dicts(nn):
    heads = nn.ModuleDict({"b": nn.Linear(2, 2), "a": nn.Linear(2, 3)})
    heads["c"] = nn.Sequential(OrderedDict(x=nn.Linear(2, 2), y=nn.ReLU()))
    heads.update({"d": nn.BatchNorm1d(3)})
    heads.pop("b")
    assert list(heads) == ["a", "c", "d"] and "a" in heads and len(heads) == 3
    return heads


def arrays(nn, parameter):
    net = nn.Sequential(nn.ParameterList([parameter(3), parameter(2)]))
    net[0].append(parameter(1))
    net.append(nn.ParameterDict({"b": parameter(3), "a": parameter(2)}))
    net[1]["c"] = parameter(4)
    assert len(net[0]) == 3 and list(net[1].keys()) == ["a", "b", "c"] and net[0][-1].shape == (1,)
    return net


@pytest.mark.parametrize("build", [lists, dicts])
def test_containers(build):
    with keys(jax.random.key(0)):
        ours = build(NN)
    shapes = lambda module: [(name, tuple(value.shape)) for name, value in module.state_dict().items()]
    assert shapes(ours) == shapes(build(torch.nn))


def test_containers_of_arrays():
    ours = arrays(NN, jnp.ones)
    theirs = arrays(torch.nn, lambda n: torch.nn.Parameter(torch.ones(n)))
    assert list(ours.state_dict()) == list(theirs.state_dict())


def test_places_without_a_module():
    blocks = NN.ModuleList([NN.ReLU(), None])
    assert len(blocks) == 2 and blocks[1] is None and list(blocks.state_dict()) == []
    with pytest.raises(TypeError):
        blocks.append(3)
