"""What layers hold and do is read from the classes that stand for them."""

import pickle

from transpile.first.rulebook import load as first
from transpile.model.layers import layers
from transpile.model.rule_files import load

LAYERS = layers(load())


def test_every_layer_holds_what_the_first_engine_knows():
    book = first()
    for layer in LAYERS.all():
        arrays = dict.fromkeys(layer.params, "params") | dict.fromkeys(layer.buffers, "state")
        plain = {array: held for array, held in arrays.items() if "{" not in array}
        known = {a: h for a, h in book.arrays(layer.name).items() if a not in ("LSTM", "GRU")}
        assert plain == known, layer.name
        taken = book.effects(layer.name)
        assert layer.draws == ("key" in taken) and layer.mode == ("training" in taken), layer.name


def test_a_layer_with_state_that_draws_nothing():
    norm = LAYERS.of("torch.nn.BatchNorm2d")
    assert norm.params == ("weight", "bias") and norm.optional == {"weight", "bias"}
    assert norm.buffers == ("running_mean", "running_var", "num_batches_tracked")
    assert (norm.draws, norm.mode, norm.writes, norm.first_values) == (False, True, True, False)


def test_names_that_are_put_together_are_patterns():
    assert "weight_ih_{suffix}" in LAYERS.of("torch.nn.LSTM").params


def test_a_layer_may_hold_another():
    assert LAYERS.of("torch.nn.MultiheadAttention").parts == (("out_proj", "OutputProjection"),)


def test_what_is_no_layer():
    assert LAYERS.of("torch.relu") is None
    assert LAYERS.of("torch.distributions.Normal") is None


def test_the_rulebook_is_that_of_the_first_engine_and_can_be_kept():
    book, before = load(), first()
    assert set(book.by_torch) == set(before.by_torch) and book.constants == before.constants
    kept = pickle.loads(pickle.dumps(book))
    rule = kept.find("torch.nn.functional.softmax")[0]
    assert [p.name for p in rule.parameters][:2] == ["input", "dim"] and rule.by_data is False
