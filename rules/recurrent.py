"""Recurrent networks over whole sequences: RNN, LSTM and GRU."""

import jax
import jax.numpy as jnp
from jax import lax

from .products import linear
from .recurrent_cells import gru_gates, lstm_gates

# What calls of these return, which their common body does not tell.
RESULTS = {"RNN": ("array", "array"), "GRU": ("array", "array"), "LSTM": ("array", ("array", "array"))}


def scan_time(mode, weights, xs, state, mask=None, reverse=False):
    """One direction of one layer; where ``mask`` (time, batch) is False the state stays and the output is 0."""
    w_ih, w_hh, b_ih, b_hh, w_hr = weights

    def advance(state, from_input):
        from_hidden = linear(state[0], w_hh, b_hh)
        if mode == "LSTM":
            h, c = lstm_gates(from_input + from_hidden, state[1])
            return (h if w_hr is None else linear(h, w_hr), c)
        if mode == "GRU":
            return (gru_gates(from_input, from_hidden, state[0]),)
        return ((jnp.tanh if mode == "RNN_TANH" else jax.nn.relu)(from_input + from_hidden),)

    def step(state, inputs):
        from_input, live = inputs
        new = advance(state, from_input)
        if live is None:
            return new, new[0]
        live = live[:, None]
        return tuple(jnp.where(live, n, s) for n, s in zip(new, state)), jnp.where(live, new[0], 0)

    return lax.scan(step, state, (linear(xs, w_ih, b_ih), mask), reverse=reverse)
