"""One step of a recurrent network: RNN, LSTM and GRU cells."""

import jax
import jax.numpy as jnp

from transpile.rule import rule

from .products import linear


def lstm_gates(gates, c):
    """The next hidden and cell state from the inputs of the four gates, (..., 4 * hidden)."""
    i, f, g, o = jnp.split(gates, 4, axis=-1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def gru_gates(from_input, from_hidden, h):
    """The next hidden state; the reset gate acts after the product with ``weight_hh``, on its bias too."""
    input_r, input_z, input_n = jnp.split(from_input, 3, axis=-1)
    hidden_r, hidden_z, hidden_n = jnp.split(from_hidden, 3, axis=-1)
    r, z = jax.nn.sigmoid(input_r + hidden_r), jax.nn.sigmoid(input_z + hidden_z)
    n = jnp.tanh(input_n + r * hidden_n)
    return (1 - z) * n + z * h


@rule("torch.lstm_cell")
def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    h, c = hx
    return lstm_gates(linear(input, w_ih, b_ih) + linear(h, w_hh, b_hh), c)


@rule("torch.gru_cell")
def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return gru_gates(linear(input, w_ih, b_ih), linear(hx, w_hh, b_hh), hx)


@rule("torch.rnn_tanh_cell")
def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return jnp.tanh(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))


@rule("torch.rnn_relu_cell")
def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return jax.nn.relu(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))
