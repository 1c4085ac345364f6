"""The layers of rules/layers as Equinox compute what their definitions compute."""

import os

import jax
import pytest

from benchmarks.layer_definitions import to_jax
from benchmarks.layer_samples import SAMPLES

from .equinox_layers import compare, eager, module_of, support_of_all

# What is not written yet, by the beginning of the sample's name, and why.
MISSING = {
    "Lazy": "lazy layers take their shapes from the first input: an Equinox model is not mutable",
    "weight_norm": "parametrizations hold a module whose arrays are named as if they were theirs",
    "parametrized": "the same",
    "spectral_norm": "the same",
    "register_parametrization": "the same",
    "Transformer": "its lists named layers are taken for those of a Sequential here; a program has it",
}
RANDOM = ("FractionalMaxPool2d", "RReLU")
# All samples take a minute and a half: every sixth here, all of them with ALL_LAYERS=1.
CHOSEN = SAMPLES if os.environ.get("ALL_LAYERS") else SAMPLES[::6]


@pytest.fixture(scope="module")
def written():
    return module_of(support_of_all()), eager()


@pytest.mark.parametrize("sample", CHOSEN, ids=lambda s: s.name)
def test_layer(sample, written):
    if sample.name in MISSING or sample.name.startswith(("Lazy", "weight_norm", "parametrized")):
        pytest.skip("not written yet")
    if sample.name.startswith(("spectral_norm", "register_p", *RANDOM)):
        pytest.skip("not written yet, or drawn in other ways")
    module, table = written
    with jax.enable_x64(True):
        inputs = tuple(to_jax(x, table) for x in sample.inputs)
        kwargs = {k: to_jax(v, table) for k, v in sample.kwargs.items()}
        for train in (False, True):
            compare(sample.build, inputs, kwargs, module, table, train)
