"""The layers as Flax NNX has them: each like its eager definition, on the same arrays."""

import pytest

from benchmarks.layer_samples import SAMPLES
from transpile.dialects.flax.layers import UNWRITTEN

from .flax_layers import TABLE, WRITTEN, Sampled, agree
from .flax_programs import layer_names

# The quick part of what was run by hand, on all samples, in training and in eval.
QUICK = [
    "Linear",
    "Sequential, names",
    "InstanceNorm2d, tracked",
    "BatchNorm2d, mean of all",
    "BatchNorm2d, plain",
    "Embedding, padding",
    "LSTM, all",
    "GRU, one sequence",
    "MultiheadAttention",
    "MultiheadAttention, sizes",
    "CrossEntropyLoss, weights",
    "Upsample",
]


@pytest.mark.parametrize("training", [False, True], ids=["eval", "training"])
@pytest.mark.parametrize("name", QUICK)
def test_layer(name, training):
    (sample,) = [s for s in SAMPLES if s.name == name]
    agree(Sampled.of(sample), training)


def test_every_layer_is_written_or_named():
    written = {cls.__name__ for name, cls in TABLE.items() if name in WRITTEN}
    assert layer_names() - written == set()
    assert UNWRITTEN.keys() <= layer_names()
