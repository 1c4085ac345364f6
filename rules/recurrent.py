"""Recurrent networks over whole sequences: RNN, LSTM and GRU."""

import jax
import jax.numpy as jnp
from jax import lax

from .products import linear
from .recurrent_cells import gru_gates, gru_state, lstm_gates, lstm_state

# What calls of these return, which their common body does not tell.
RESULTS = {
    "RNN": ("array", "array"),
    "GRU": ("array", "array"),
    "LSTM": ("array", ("array", "array")),
}


def scan_time(mode, weights, xs, state, mask=None, reverse=False):
    """One direction of one layer; where ``mask`` (time, batch) is False the state stays and the output is 0.

    With a backward pass of its own. The one that JAX makes of a scan keeps twice as many arrays of each step and adds
    up the gradient of ``w_hh`` step by step, and a step of training takes up to twice as long. No forward mode.
    """
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    inputs = linear(xs, w_ih, b_ih), mask
    if w_hr is None:
        run = jax.custom_vjp(run_time, nondiff_argnums=(0, 1))
        run.defvjp(run_time_forward, run_time_backward)
        last, outputs = run(mode, reverse, inputs, state, w_hh, b_hh)
    else:
        last, ((outputs, _), _) = record_time(mode, reverse, inputs, state, w_hh, b_hh, w_hr)
    return last, outputs if mask is None else jnp.where(mask[..., None], outputs, 0)


def run_time(mode, reverse, inputs, state, w_hh, b_hh):
    """The last state, and the hidden state after each step."""
    last, (states, _) = record_time(mode, reverse, inputs, state, w_hh, b_hh)
    return last, states[0]


def run_time_forward(mode, reverse, inputs, state, w_hh, b_hh):
    last, (states, gates) = record_time(mode, reverse, inputs, state, w_hh, b_hh)
    return (last, states[0]), (states, gates, inputs[1], state, w_hh, b_hh)


def record_time(mode, reverse, inputs, state, w_hh, b_hh, w_hr=None):
    """The last state, and the states and gates of all steps."""
    count = len(w_hh) // state[-1].shape[-1]

    def step(state, inputs):
        from_input, live = inputs
        from_hidden = jnp.split(linear(state[0], w_hh, b_hh), count, axis=-1)
        new, gates = advance(mode, from_input, from_hidden, state)
        if w_hr is not None:
            new = linear(new[0], w_hr), new[1]
        if live is not None:
            new = tuple(jnp.where(live[:, None], n, s) for n, s in zip(new, state))
        return new, (new, gates)

    # split before the scan, each step is vectorised; split within, it takes half as long again
    from_input, mask = inputs
    return lax.scan(step, state, (jnp.split(from_input, count, axis=-1), mask), reverse=reverse)


def run_time_backward(mode, reverse, kept, gradients):
    """A scan for the gradients of each step, and one product over all steps for those of the weights."""
    states, gates, mask, first, w_hh, b_hh = kept
    before = tuple(
        jnp.concatenate([all[1:], one[None]] if reverse else [one[None], all[:-1]])
        for one, all in zip(first, states)
    )

    def step(d_state, inputs):
        d_output, live, gates, before, after = inputs
        d_state = d_state[0] + d_output, *d_state[1:]
        d_new = d_state if live is None else tuple(jnp.where(live[:, None], d, 0) for d in d_state)
        d_before, *d_gates = retreat(mode, gates, before, after, d_new)
        d_before = d_before[0] + d_gates[-1] @ w_hh, *d_before[1:]
        if live is not None:
            d_before = tuple(jnp.where(live[:, None], b, d) for b, d in zip(d_before, d_state))
        return d_before, d_gates

    d_last, d_outputs = gradients
    d_first, d_gates = lax.scan(
        step, d_last, (d_outputs, mask, gates, before, states), reverse=not reverse
    )
    d_w = jnp.tensordot(d_gates[-1], before[0], ((0, 1), (0, 1)))
    d_b = None if b_hh is None else d_gates[-1].sum((0, 1))
    return (d_gates[0], None), d_first, d_w, d_b


def advance(mode, from_input, from_hidden, state):
    """The next state, and the gates that lead to it; ``from_input`` and ``from_hidden`` hold a part for each gate."""
    if mode == "GRU":
        gates = gru_gates(from_input, from_hidden)
        return (gru_state(gates, state[0]),), gates
    sums = [a + b for a, b in zip(from_input, from_hidden)]
    if mode == "LSTM":
        gates = lstm_gates(*sums)
        return lstm_state(gates, state[1]), gates
    return ((jnp.tanh if mode == "RNN_TANH" else jax.nn.relu)(*sums),), ()


def retreat(mode, gates, before, after, gradient):
    """The gradient of the state before a step but for its way through ``w_hh``; of what comes from the input; of what
    comes from the hidden state, where that is another."""
    d_h = gradient[0]
    if mode == "LSTM":
        (i, f, g, o), tanh_c = gates, jnp.tanh(after[1])
        d_c = gradient[1] + d_h * o * (1 - tanh_c**2)
        d_i, d_f, d_g = d_c * g * i * (1 - i), d_c * before[1] * f * (1 - f), d_c * i * (1 - g**2)
        d_gates = jnp.concatenate([d_i, d_f, d_g, d_h * tanh_c * o * (1 - o)], axis=-1)
        return (jnp.zeros_like(d_h), d_c * f), d_gates
    if mode == "GRU":
        r, z, n, hidden_n = gates
        d_n = d_h * (1 - z) * (1 - n**2)
        d_rz = d_n * hidden_n * r * (1 - r), d_h * (before[0] - n) * z * (1 - z)
        both = (jnp.concatenate([*d_rz, d], axis=-1) for d in (d_n, d_n * r))
        return (d_h * z,), *both
    slope = 1 - after[0] ** 2 if mode == "RNN_TANH" else after[0] > 0
    return (jnp.zeros_like(d_h),), d_h * slope
