"""One step of a recurrent network: RNN, LSTM and GRU cells."""

import jax
import jax.numpy as jnp

from transpile.rule import rule

from .products import linear


def lstm_gates(i, f, g, o):
    """The four gates from their inputs."""
    return jax.nn.sigmoid(i), jax.nn.sigmoid(f), jnp.tanh(g), jax.nn.sigmoid(o)


def lstm_state(gates, c):
    """The next hidden and cell state."""
    i, f, g, o = gates
    c = f * c + i * g
    return o * jnp.tanh(c), c


def gru_gates(from_input, from_hidden):
    """The reset and update gate, the new value, and its part of the hidden state, on which the
    reset gate acts after the product with ``weight_hh``, on its bias too."""
    (input_r, input_z, input_n), (hidden_r, hidden_z, hidden_n) = from_input, from_hidden
    r, z = jax.nn.sigmoid(input_r + hidden_r), jax.nn.sigmoid(input_z + hidden_z)
    return r, z, jnp.tanh(input_n + r * hidden_n), hidden_n


def gru_state(gates, h):
    """The next hidden state."""
    _, z, n, _ = gates
    return (1 - z) * n + z * h


@rule("torch.lstm_cell")
def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    h, c = hx
    gates = linear(input, w_ih, b_ih) + linear(h, w_hh, b_hh)
    return lstm_state(lstm_gates(*jnp.split(gates, 4, axis=-1)), c)


@rule("torch.gru_cell")
def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    sides = linear(input, w_ih, b_ih), linear(hx, w_hh, b_hh)
    return gru_state(gru_gates(*(jnp.split(side, 3, axis=-1) for side in sides)), hx)


@rule("torch.rnn_tanh_cell")
def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return jnp.tanh(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))


@rule("torch.rnn_relu_cell")
def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return jax.nn.relu(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))
