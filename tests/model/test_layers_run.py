"""What is read of the definitions of layers is what they do when they are run."""

import jax
import pytest

from benchmarks.layer_definitions import Namespace, definitions
from benchmarks.layer_samples import SAMPLES
from transpile.layer import Module, keys
from transpile.model.layers import layers
from transpile.model.rule_files import load

from ..against_torch import to_jax

LAYERS = layers(load())
# they draw and write as others do one by one; all of them are run by `benchmarks.layer_definitions`
RUN = [
    "Linear",
    "InstanceNorm2d, tracked",
    "BatchNorm2d, plain",
    "GRU, one sequence",
    "spectral_norm",
    "parametrized spectral_norm, bias",
    "RReLU",
]
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
            if layer.wraps is None and layer.parts != (("module", None),) and not layer.open:
                assert {layer.array(name) for name in there} <= {kind}, layer.name
            known = layer.params if kind == "param" else layer.buffers
            certain = {n for n in known if "{" not in n} - layer.optional
            taken = {n for n in certain if n not in there}  # what a wrapper took away
            assert not taken or taken == {"weight"}, layer.name
        for part, _ in layer.parts:
            assert isinstance(getattr(module, part), Module) or layer.part(part) is None


@pytest.mark.parametrize("name", RUN)
def test_draws_and_writes(name):
    """A call of a layer that says neither draws nothing, and leaves its buffers as they are."""
    (sample,) = [sample for sample in SAMPLES if sample.name == name]
    module, made = build(sample)
    all_of = [layer for _, layer in made]
    draws, writes = any(x.draws for x in all_of), any(x.writes for x in all_of)
    before = {name: box.value for name, box in module.boxes("_buffers")}
    args = [to_jax(a) for a in sample.inputs]
    kwargs = {word: to_jax(value) for word, value in sample.kwargs.items()}
    if draws:
        with keys(jax.random.key(1)):
            module(*args, **kwargs)
    else:
        module(*args, **kwargs)  # outside of `keys`, drawing raises
    after = {name: box.value for name, box in module.boxes("_buffers")}
    assert writes or all(after[name] is before[name] for name in before)
