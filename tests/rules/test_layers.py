"""The layers, written once with `self`, against torch's: a quick part of `benchmarks.layer_definitions`."""

import argparse
import ast
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from benchmarks.layer_definitions import (
    Namespace,
    check,
    outcome,
    own_case,
    prepare,
    signature_differences,
    torch_cases,
)
from benchmarks.layer_samples import SAMPLES
from transpile.layer import keys
from transpile.model import rule_files

from ..against_torch import float64, to_jax

ROOT = Path(__file__).parent.parent.parent
MODULE_DB, TABLE = prepare()
NN = Namespace(TABLE)
QUICK = argparse.Namespace(quick=True, verbose=False)
# these have what the others have one by one: state, absent arrays, computed names, draws, copies, late sizes
ENTRIES = ["nn.BatchNorm1d", "nn.LazyConv1d", "nn.TransformerDecoderLayer"]
OWN = [
    "Sequential, shared",
    "InstanceNorm2d, tracked",
    "LSTM, all",
    "MultiheadAttention, sizes",
    "weight_norm",
    "spectral_norm in a net",
    "parametrized spectral_norm",
    "Lazy net",
    "CrossEntropyLoss, weights",
]


@pytest.mark.parametrize("name", ENTRIES)
def test_layers_of_torch(name):
    (info,) = [info for info in MODULE_DB if info.name == name]
    with float64():
        cases = lambda training: list(torch_cases(info, training, TABLE))[:1]
        assert outcome(cases, TABLE, QUICK) == ("right", "")


@pytest.mark.parametrize("name", OWN)
def test_layers_of_ours(name):
    (sample,) = [sample for sample in SAMPLES if sample.name == name]
    with float64():
        check(own_case(sample, TABLE), True, TABLE)


def test_signatures_are_torchs():
    assert list(signature_differences(TABLE)) == []


def test_a_generated_file_can_hold_them_all():
    """No two definitions have one name, nor one that is that of a rule."""
    found, rules = {}, rule_files.load().definitions
    for path in sorted((ROOT / "rules" / "layers").glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                assert node.name not in found, f"{path} and {found[node.name]}"
                found[node.name] = path
    assert not [name for name, path in found.items() if rules[name].file != path]


@pytest.mark.parametrize(
    "name", ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"]
)
def test_dropouts(name):
    layer, x = getattr(NN, name)(0.4), jnp.ones((400, 5, 2, 2, 2))
    if name == "Dropout1d":
        x = x[..., 0, 0]
    with keys(jax.random.key(0)):
        y = layer(x)
    with keys(jax.random.key(0)):
        assert (layer(x) == y).all()
        assert not (layer(x) == y).all()
    torch.manual_seed(0)
    wanted = getattr(torch.nn, name)(0.4)(torch.ones(x.shape)).numpy()
    assert set(np.unique(np.round(y, 4))) == set(np.unique(np.round(wanted, 4)))
    assert abs(y.mean() - wanted.mean()) < 0.1
    whole = np.ptp(np.asarray(y).reshape(400, 5, -1), axis=-1).max() == 0
    assert whole == (np.ptp(wanted.reshape(400, 5, -1), axis=-1).max() == 0)
    assert layer.eval()(x) is x


def test_what_draws_in_training_needs_no_key_in_eval():
    with keys(jax.random.key(0)):
        lstm, attention = NN.LSTM(4, 5, 2, dropout=0.5), NN.MultiheadAttention(4, 2, dropout=0.5)
    x = jnp.ones((3, 2, 4))
    for layer, inputs in ((lstm, (x,)), (attention, (x, x, x))):
        with pytest.raises(RuntimeError, match="outside"):
            layer(*inputs)
        first = layer.eval()(*inputs)[0]
        with keys(jax.random.key(1)):
            assert not jnp.array_equal(layer.train()(*inputs)[0], first)


def test_packed_sequences():
    from rules.packing import pack_padded_sequence, pad_packed_sequence

    with float64(), keys(jax.random.key(0)):
        theirs, ours = torch.nn.LSTM(4, 5, 2, bidirectional=True), NN.LSTM(4, 5, 2, bidirectional=True)
        ours.load_state_dict({name: to_jax(value) for name, value in theirs.state_dict().items()})
        x, lengths = torch.randn(6, 3, 4), [5, 3, 2]
        wanted, (h, c) = theirs(torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor(lengths)))
        got, states = ours(pack_padded_sequence(to_jax(x), lengths))
        np.testing.assert_allclose(
            pad_packed_sequence(got)[0], torch.nn.utils.rnn.pad_packed_sequence(wanted)[0].detach(), 1e-9
        )
        for state, want in zip(states, (h, c)):
            np.testing.assert_allclose(state, want.detach(), 1e-9)


def test_tables_from_outside():
    table = jnp.arange(12.0).reshape(4, 3)
    for name in ("Embedding", "EmbeddingBag"):
        layer = getattr(NN, name).from_pretrained(table)
        assert layer.state_dict().keys() == {"weight"} and layer.num_embeddings == 4
        trained = [box.requires_grad for _, box in layer.boxes("_parameters")]
        assert trained == [name == "EmbeddingBag"]  # which has no argument for it: that is told
