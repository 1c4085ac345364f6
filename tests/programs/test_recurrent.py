"""Recurrent layers and packed sequences against torch."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.nn.utils import rnn as torch_rnn

from rules import packing
from rules import recurrent as rule

from ..against_torch import assert_equivalent, assert_same, float64, params_of, to_jax, written

recurrent = written("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell")
LENGTHS = [5, 3, 1]


@pytest.fixture(autouse=True)
def in_float64():
    with float64():
        yield


@pytest.mark.parametrize(
    "name, options, shape",
    [
        ("LSTM", {}, (4, 2, 3)),
        ("LSTM", {"num_layers": 2, "bidirectional": True, "batch_first": True, "proj_size": 2}, (2, 4, 3)),
        ("LSTM", {"bias": False}, (4, 3)),
        ("GRU", {"num_layers": 2, "bidirectional": True}, (4, 2, 3)),
        ("RNN", {"nonlinearity": "relu", "batch_first": True}, (2, 4, 3)),
    ],
)
def test_layers(name, options, shape):
    module, layer = getattr(torch.nn, name)(3, 5, **options), getattr(recurrent, name)(3, 5, **options)
    assert_equivalent(module, layer, torch.randn(shape))


@pytest.mark.parametrize("name", ["LSTM", "GRU"])
def test_given_states(name):
    options = {"bidirectional": True, "batch_first": True}
    module, layer = getattr(torch.nn, name)(3, 5, **options), getattr(recurrent, name)(3, 5, **options)
    x, states = torch.randn(2, 4, 3), [torch.randn(2, 2, 5) for _ in range(2 if name == "LSTM" else 1)]
    hx = tuple(states) if name == "LSTM" else states[0]
    assert_same(jax.jit(layer)(params_of(module), to_jax(x), to_jax(hx)), module(x, hx))


@pytest.mark.parametrize("name, options", [("RNNCell", {"nonlinearity": "relu"}), ("LSTMCell", {}), ("GRUCell", {})])
@pytest.mark.parametrize("shape", [(2, 3), (3,)])
def test_cells(name, options, shape):
    module, layer = getattr(torch.nn, name)(3, 5, **options), getattr(recurrent, name)(3, 5, **options)
    assert_equivalent(module, layer, torch.randn(shape))


@pytest.mark.parametrize("mode, gates", [("LSTM", 4), ("GRU", 3), ("RNN_TANH", 1), ("RNN_RELU", 1)])
@pytest.mark.parametrize("masked, bias, reverse", [(False, True, False), (True, True, True), (True, False, False)])
def test_backward_pass_is_that_of_the_scan(mode, gates, masked, bias, reverse):
    """First derivatives, second ones backwards and forwards over backwards; forwards alone is refused."""
    shapes = [(gates * 3, 2), (gates * 3, 3), (gates * 3,), (gates * 3,), (4, 2, 2)] + [(2, 3)] * (2 if mode == "LSTM" else 1)
    arrays = [jnp.asarray(torch.randn(s).numpy()) for s in shapes]
    mask = jnp.array([[True, True], [True, False], [True, True], [True, False]]) if masked else None

    def loss(run, w_ih, w_hh, b_ih, b_hh, xs, *state):
        last, outputs = run(mode, (w_ih, w_hh, *((b_ih, b_hh) if bias else (None, None)), None), xs, state, mask, reverse)
        return sum((jnp.sin(y) * y).sum() for y in (outputs, *last))

    def scanned(mode, weights, xs, state, mask, reverse):
        w_ih, w_hh, b_ih, b_hh, _ = weights
        last, (states, _) = rule.record_time(mode, reverse, (rule.linear(xs, w_ih, b_ih), mask), state, w_hh, b_hh)
        return last, states[0] if mask is None else jnp.where(mask[..., None], states[0], 0)

    def assert_equal(f, g):
        for a, b in zip(jax.tree.leaves(f), jax.tree.leaves(g), strict=True):
            np.testing.assert_allclose(a, b, 1e-9, 1e-11)

    every = range(len(arrays))
    own, plain = (functools.partial(loss, run) for run in (rule.scan_time, scanned))
    slopes = [lambda *a, f=f: jax.grad(f, every)(*a) for f in (own, plain)]
    assert_equal(*(jax.jit(f)(*arrays) for f in slopes))
    again = [jax.grad(lambda *a, f=f: sum((g**2).sum() for g in f(*a)), every) for f in slopes]
    assert_equal(*(jax.jit(f)(*arrays) for f in again))
    ahead = [lambda *a, f=f: jax.jvp(f, a, a)[1] for f in slopes]
    assert_equal(*(jax.jit(f)(*arrays) for f in ahead))
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(own, arrays, arrays)


def test_dropout_acts_between_layers_in_training():
    layer, x = recurrent.LSTM(3, 4, num_layers=2, dropout=1.0), jnp.ones((4, 2, 3))
    params = layer.init(jax.random.key(0))
    trained, _ = jax.jit(functools.partial(layer, training=True))(params, x, key=jax.random.key(1))
    second = recurrent.LSTM(4, 4)
    alone, _ = jax.jit(second)({k.replace("l1", "l0"): v for k, v in params.items() if "l1" in k}, jnp.zeros((4, 2, 4)))
    np.testing.assert_allclose(trained, alone)
    assert not np.allclose(jax.jit(layer)(params, x)[0], alone)


@pytest.mark.parametrize("name, lengths", [("LSTM", LENGTHS), ("LSTM", [2, 5, 3]), ("GRU", [2, 5, 3])])
def test_packed(name, lengths):
    options = {"bidirectional": True, "batch_first": True}
    module, layer = getattr(torch.nn, name)(3, 4, **options), getattr(recurrent, name)(3, 4, **options)
    x, ordered = torch.randn(3, 6, 3, requires_grad=True), lengths == LENGTHS
    packed = torch_rnn.pack_padded_sequence(x, torch.tensor(lengths), True, enforce_sorted=ordered)
    outputs, states = module(packed)
    cut = torch_rnn.pad_packed_sequence(outputs, True, padding_value=7.0)
    whole = torch_rnn.pad_packed_sequence(outputs, True, padding_value=7.0, total_length=6)
    cut[0].cos().sum().backward()

    def run(x, lengths, total_length=None):
        packed = packing.pack_padded_sequence(x, lengths, True, enforce_sorted=ordered)
        outputs, states = layer(params_of(module), packed)
        padded = packing.pad_packed_sequence(outputs, True, 7.0, total_length)
        return jnp.cos(padded[0]).sum(), (padded, states)

    garbage = jnp.where(np.arange(6)[:, None] < np.array(lengths)[:, None, None], to_jax(x), jnp.nan)
    slope, got = jax.jit(jax.grad(lambda x: run(x, lengths), has_aux=True))(garbage)
    assert_same(got, (cut, states))
    np.testing.assert_allclose(slope, x.grad.numpy(), 1e-6, 1e-9)
    assert_same(jax.jit(run, static_argnums=2)(to_jax(x), jnp.array(lengths), 6)[1], (whole, states))
    with pytest.raises(TypeError, match="total_length"):
        jax.jit(run)(to_jax(x), jnp.array(lengths))


@pytest.mark.parametrize("ordered", [True, False])
def test_packed_sequence_has_torch_fields(ordered):
    pieces = [torch.randn(n, 2) for n in (LENGTHS if ordered else [3, 5, 1])]
    want = torch_rnn.pack_sequence(pieces, enforce_sorted=ordered)
    got = packing.pack_sequence(to_jax(pieces), enforce_sorted=ordered)
    assert_same(list(got), list(want))
    assert_same((got.data, got.batch_sizes), (want.data, want.batch_sizes))
    again = packing.PackedSequence(got.data * 2, got.batch_sizes, got.sorted_indices, got.unsorted_indices)
    assert_same(packing.unpack_sequence(again), [2 * piece for piece in pieces])
    assert_same(jax.jit(lambda packed: packed.replace(packed.padded + 1))(got).data, want.data + 1)


def test_lengths_must_decrease():
    with pytest.raises(ValueError, match="decreasing"):
        packing.pack_padded_sequence(jnp.ones((3, 2, 1)), [1, 3])


@pytest.mark.parametrize("side", ["left", "right"])
def test_pad_sequence(side):
    pieces = [torch.randn(n, 2) for n in (2, 4, 1)]
    want = torch_rnn.pad_sequence(pieces, True, -1.0, padding_side=side)
    assert_same(packing.pad_sequence(to_jax(pieces), True, -1.0, padding_side=side), want)
