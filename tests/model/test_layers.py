"""What layers hold is read from the classes that stand for them."""

import pickle

import pytest

from transpile.model.layers import layers
from transpile.model.rule_files import load

LAYERS = layers(load())


def effects(layer):
    words = ("lazy", "first_values")
    return {word for word in words if getattr(layer, word)}


def test_a_layer_with_buffers_that_begins_alike():
    norm = LAYERS.of("torch.nn.BatchNorm2d")
    assert norm.params == ("weight", "bias")
    assert norm.buffers == ("running_mean", "running_var", "num_batches_tracked")
    assert norm.optional == {*norm.params, *norm.buffers}
    assert effects(norm) == set()


EFFECTS = {
    "Linear": {"first_values"},
    "PReLU": set(),
    "Dropout": set(),
    "Sequential": set(),
    "LazyLinear": {"lazy", "first_values"},
    "LazyBatchNorm1d": {"lazy"},
    "MultiheadAttention": {"first_values"},
    "TransformerEncoderLayer": {"first_values"},
    "TransformerEncoder": set(),
    "AdaptiveLogSoftmaxWithLoss": {"first_values"},
    "utils.weight_norm": set(),
    "utils.spectral_norm": {"first_values"},
    "utils.parametrizations.spectral_norm": {"first_values"},
}


@pytest.mark.parametrize("name", EFFECTS)
def test_what_building_and_the_first_call_do(name):
    assert effects(LAYERS.of(f"torch.nn.{name}")) == EFFECTS[name]


def test_names_that_are_put_together_are_patterns():
    lstm = LAYERS.of("torch.nn.LSTM")
    assert "weight_ih_{suffix}" in lstm.params and "weight_hr_{suffix}" in lstm.optional
    assert lstm.array("weight_ih_l0_reverse") == "param" and lstm.array("gates") is None
    norm = LAYERS.of("torch.nn.utils.spectral_norm")
    assert norm.array("weight_orig") == "param" and norm.array("weight_u") == "buffer"
    assert norm.wraps == "weight" and norm.array("weight") == "param"


def test_a_layer_may_hold_another():
    assert LAYERS.of("torch.nn.MultiheadAttention").parts == {"out_proj": "Linear"}
    assert LAYERS.of("torch.nn.Transformer").parts["encoder"] == "TransformerEncoder"


def test_signatures_are_those_of_torch():
    linear = LAYERS.of("torch.nn.Linear")
    assert [p.name for p in linear.parameters] == ["in_features", "out_features", "bias", "dtype"]
    lstm = LAYERS.of("torch.nn.LSTM")
    assert [p.name for p in lstm.call] == ["input", "hx"]
    assert lstm.fields["batch_first"] == "batch_first"


def test_what_is_no_layer():
    assert LAYERS.of("torch.relu") is None
    assert LAYERS.of("torch.distributions.Normal") is None


def test_the_rulebook_can_be_kept():
    book = load()
    assert book.method("Embedding", "from_pretrained") is not None
    kept = pickle.loads(pickle.dumps(book))
    rule = kept.find("torch.nn.functional.softmax")[0]
    assert [p.name for p in rule.parameters][:2] == ["input", "dim"] and rule.by_data is False
