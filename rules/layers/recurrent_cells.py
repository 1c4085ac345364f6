"""One step of a recurrent network: RNN, LSTM and GRU cells."""

import math

import jax.numpy as jnp

from transpile.layer import Module, Parameter, draw_key, layer

from ..recurrent_cells import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell
from .beginnings import symmetric_uniform


@layer("torch.nn.RNNCellBase")
class RNNCellBase(Module):
    """The arrays of a cell with ``num_chunks`` gates, all within ``1 / sqrt(hidden_size)``."""

    def __init__(self, input_size, hidden_size, bias, num_chunks):
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        bound = 1 / math.sqrt(hidden_size) if hidden_size else 0
        self.weight_ih = Parameter(symmetric_uniform(draw_key(), (gates, input_size), bound))
        self.weight_hh = Parameter(symmetric_uniform(draw_key(), (gates, hidden_size), bound))
        self.bias_ih = Parameter(symmetric_uniform(draw_key(), (gates,), bound)) if bias else None
        self.bias_hh = Parameter(symmetric_uniform(draw_key(), (gates,), bound)) if bias else None

    def weights(self):
        """The arrays in the order in which the functions of the cells take them."""
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def zeros(self, input):
        return jnp.zeros((*input.shape[:-1], self.hidden_size), input.dtype)


@layer("torch.nn.RNNCell")
class RNNCell(RNNCellBase):
    """``tanh(W_ih x + W_hh h)``, or with relu."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh"):
        super().__init__(input_size, hidden_size, bias, num_chunks=1)
        self.nonlinearity = nonlinearity

    def __call__(self, input, hx=None):
        cell = rnn_tanh_cell if self.nonlinearity == "tanh" else rnn_relu_cell
        return cell(input, self.zeros(input) if hx is None else hx, *self.weights())


@layer("torch.nn.LSTMCell")
class LSTMCell(RNNCellBase):
    """One LSTM step: returns the hidden and the cell state."""

    def __init__(self, input_size, hidden_size, bias=True):
        super().__init__(input_size, hidden_size, bias, num_chunks=4)

    def __call__(self, input, hx=None):
        start = (self.zeros(input), self.zeros(input)) if hx is None else hx
        return lstm_cell(input, start, *self.weights())


@layer("torch.nn.GRUCell")
class GRUCell(RNNCellBase):
    """One GRU step: returns the hidden state."""

    def __init__(self, input_size, hidden_size, bias=True):
        super().__init__(input_size, hidden_size, bias, num_chunks=3)

    def __call__(self, input, hx=None):
        return gru_cell(input, self.zeros(input) if hx is None else hx, *self.weights())
