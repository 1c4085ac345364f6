"""Recurrent networks over whole sequences: RNN, LSTM and GRU."""

import math

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import layer

from .dropout import dropout
from .module import Module, split
from .products import linear
from .recurrent_cells import gru_gates, lstm_gates

# What calls of these return, which their common body does not tell.
RESULTS = {"RNN": ("array", "array"), "GRU": ("array", "array"), "LSTM": ("array", ("array", "array"))}


@layer("torch.nn.RNNBase")
class RNNBase(Module):
    """Layers of one or two directions, each a scan over time; the input's part of every step is one matrix product.

    ``input`` is (time, batch, input_size), (batch, time, input_size) with ``batch_first``, (time, input_size), or a
    PackedSequence. The hidden states are (num_layers * directions, batch, hidden_size) in every case.
    """

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
    ):
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size

    def init(self, key):
        gates = {"LSTM": 4, "GRU": 3}.get(self.mode, 1) * self.hidden_size
        output_size = self.proj_size or self.hidden_size
        shapes = {}
        for depth, suffixes in enumerate(self.suffixes()):
            for suffix in suffixes:
                width = output_size * len(suffixes) if depth else self.input_size
                shapes |= {f"weight_ih_{suffix}": (gates, width), f"weight_hh_{suffix}": (gates, output_size)}
                if self.bias:
                    shapes |= {f"bias_ih_{suffix}": (gates,), f"bias_hh_{suffix}": (gates,)}
                if self.proj_size:
                    shapes[f"weight_hr_{suffix}"] = (self.proj_size, self.hidden_size)
        bound = 1 / math.sqrt(self.hidden_size)
        keys = jax.random.split(key, len(shapes))
        return {
            name: jax.random.uniform(k, shape, minval=-bound, maxval=bound)
            for k, (name, shape) in zip(keys, shapes.items())
        }

    def suffixes(self):
        """What the names of the params end in: for each layer one suffix per direction."""
        directions = ("", "_reverse") if self.bidirectional else ("",)
        return [[f"l{layer}{direction}" for direction in directions] for layer in range(self.num_layers)]

    def flatten_parameters(self):
        """Nothing: where the arrays lie is the compiler's business."""

    def __call__(self, params, input, hx=None, *, key=None, training=False):
        packed = hasattr(input, "lengths")
        batched = packed or input.ndim == 3
        xs = input.padded if packed else input
        if not batched:
            xs = xs[:, None]
        elif self.batch_first and not packed:
            xs = xs.swapaxes(0, 1)
        xs, states = self.run(params, xs, self.start(hx, xs, batched), input.mask() if packed else None, key, training)
        if not batched:
            xs, states = xs[:, 0], [state[:, 0] for state in states]
        elif self.batch_first and not packed:
            xs = xs.swapaxes(0, 1)
        return input.replace(xs) if packed else xs, tuple(states) if self.mode == "LSTM" else states[0]

    def start(self, hx, xs, batched):
        """The first states as a tuple: (h, c) for an LSTM, else (h,); each (num_layers * directions, batch, size)."""
        if hx is not None:
            states = tuple(hx) if self.mode == "LSTM" else (hx,)
            return states if batched else tuple(state[:, None] for state in states)
        count = self.num_layers * (2 if self.bidirectional else 1)
        sizes = (self.proj_size or self.hidden_size, self.hidden_size)[: 2 if self.mode == "LSTM" else 1]
        return tuple(jnp.zeros((count, xs.shape[1], size), xs.dtype) for size in sizes)

    def run(self, params, xs, start, mask, key, training):
        """All layers over (time, batch, width); returns the last layer's outputs and all last states."""
        keys = split(key, self.num_layers)
        last = []
        for depth, suffixes in enumerate(self.suffixes()):
            if depth and training and self.dropout:
                xs = dropout(xs, self.dropout, key=keys[depth])
            outputs = []
            for suffix in suffixes:
                names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
                weights = [params.get(f"{name}_{suffix}") for name in names]
                state = tuple(s[len(last)] for s in start)
                state, output = scan_time(self.mode, weights, xs, state, mask, reverse=suffix.endswith("_reverse"))
                outputs.append(output)
                last.append(state)
            xs = jnp.concatenate(outputs, axis=-1) if len(outputs) > 1 else outputs[0]
        return xs, [jnp.stack(states) for states in zip(*last)]


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


@layer("torch.nn.RNN")
class RNN(RNNBase):
    """``h = tanh(W_ih x + W_hh h)``, or with relu; returns the outputs and the last h."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        nonlinearity="tanh",
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
    ):
        self.nonlinearity = nonlinearity
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)


@layer("torch.nn.LSTM")
class LSTM(RNNBase):
    """Long short-term memory; returns the outputs and the last (h, c)."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
    ):
        super().__init__(
            "LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size
        )


@layer("torch.nn.GRU")
class GRU(RNNBase):
    """Gated recurrent units; returns the outputs and the last h."""

    def __init__(
        self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False
    ):
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
