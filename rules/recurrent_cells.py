"""One step of a recurrent network: RNN, LSTM and GRU cells."""

import math

import jax
import jax.numpy as jnp

from transpile.rule import layer, rule

from .module import Module
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


@layer("torch.nn.RNNCellBase")
class RNNCellBase(Module):
    """The params of a cell with ``num_chunks`` gates, all uniform within ``1 / sqrt(hidden_size)``."""

    def __init__(self, input_size, hidden_size, bias, num_chunks):
        self.input_size, self.hidden_size, self.bias, self.num_chunks = input_size, hidden_size, bias, num_chunks

    def init(self, key):
        gates, bound = self.num_chunks * self.hidden_size, 1 / math.sqrt(self.hidden_size)
        shapes = {"weight_ih": (gates, self.input_size), "weight_hh": (gates, self.hidden_size)}
        if self.bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        keys = jax.random.split(key, len(shapes))
        return {
            name: jax.random.uniform(k, shape, minval=-bound, maxval=bound)
            for k, (name, shape) in zip(keys, shapes.items())
        }

    def weights(self, params):
        """The cell's arrays in the order of the functions above; absent biases are None."""
        return [params.get(name) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]

    def zeros(self, input):
        return jnp.zeros((*input.shape[:-1], self.hidden_size), input.dtype)


@layer("torch.nn.RNNCell")
class RNNCell(RNNCellBase):
    """``tanh(W_ih x + W_hh h)``, or with relu."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh"):
        super().__init__(input_size, hidden_size, bias, num_chunks=1)
        self.nonlinearity = nonlinearity

    def __call__(self, params, input, hx=None):
        cell = rnn_tanh_cell if self.nonlinearity == "tanh" else rnn_relu_cell
        return cell(input, self.zeros(input) if hx is None else hx, *self.weights(params))


@layer("torch.nn.LSTMCell")
class LSTMCell(RNNCellBase):
    """One LSTM step: returns the hidden and the cell state."""

    def __init__(self, input_size, hidden_size, bias=True):
        super().__init__(input_size, hidden_size, bias, num_chunks=4)

    def __call__(self, params, input, hx=None):
        return lstm_cell(input, (self.zeros(input),) * 2 if hx is None else hx, *self.weights(params))


@layer("torch.nn.GRUCell")
class GRUCell(RNNCellBase):
    """One GRU step: returns the hidden state."""

    def __init__(self, input_size, hidden_size, bias=True):
        super().__init__(input_size, hidden_size, bias, num_chunks=3)

    def __call__(self, params, input, hx=None):
        return gru_cell(input, self.zeros(input) if hx is None else hx, *self.weights(params))
