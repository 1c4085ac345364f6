"""What is read of the definitions of layers is what they hold when they are built."""

import jax
import pytest

from benchmarks.layer_definitions import Namespace, definitions
from benchmarks.layer_samples import SAMPLES
from transpile.layer import Module, keys
from transpile.model.layers import layers
from transpile.model.rule_files import load

LAYERS = layers(load())
TABLE = definitions()


def recording(made):
    """The layers, each of which is noted with what was read of it."""

    def recorded(name, cls):
        def build(*args, **kwargs):
            module = cls(*args, **kwargs)
            made.append((module, LAYERS.named(cls.__name__)))
            return module

        return build

    return Namespace({name: recorded(name, cls) for name, cls in TABLE.items()})


def build(sample):
    made = []
    with keys(jax.random.key(0)):
        module = sample.build(recording(made))
    return module, made


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_arrays_and_parts(sample):
    """Every array that is there is known, and what is there for certain is there."""
    for module, layer in build(sample)[1]:
        held = {"param": dict(module._own("_parameters")), "buffer": dict(module._own("_buffers"))}
        for kind, boxes in held.items():
            there = {name for name, box in boxes.items() if box is not None}
            if "module" not in layer.parts:
                assert {layer.array(name) for name in there} <= {kind}, layer.name
            known = layer.params if kind == "param" else layer.buffers
            certain = {n for n in known if "{" not in n} - layer.optional
            taken = {n for n in certain if n not in there}  # what a wrapper took away
            assert not taken or taken == {"weight"}, layer.name
        for part, name in layer.parts.items():
            assert isinstance(getattr(module, part), Module) or name is None
