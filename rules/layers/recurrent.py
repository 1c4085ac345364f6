"""Recurrent networks over whole sequences: RNN, LSTM and GRU."""

import math

import jax.numpy as jnp

from transpile.layer import Module, Parameter, draw_key, layer

from ..dropout import dropout
from ..recurrent import scan_time
from .beginnings import symmetric_uniform


@layer("torch.nn.RNNBase")
class RNNBase(Module):
    """Layers of one or two directions, each a scan over time.

    ``input`` is (time, batch, input_size), (batch, time, input_size) with ``batch_first``,
    (time, input_size), or a PackedSequence. The hidden states are
    (num_layers * directions, batch, hidden_size) in every case.
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
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.proj_size = float(dropout), bidirectional, proj_size
        gates = {"LSTM": 4, "GRU": 3}.get(mode, 1) * hidden_size
        output_size = proj_size or hidden_size
        bound = 1 / math.sqrt(hidden_size)
        for depth, suffixes in enumerate(self.suffixes()):
            width = output_size * len(suffixes) if depth else input_size
            shapes = {"weight_ih": (gates, width), "weight_hh": (gates, output_size)}
            if bias:
                shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
            if proj_size:
                shapes |= {"weight_hr": (proj_size, hidden_size)}
            for suffix in suffixes:
                for name, shape in shapes.items():
                    first = symmetric_uniform(draw_key(), shape, bound)
                    setattr(self, f"{name}_{suffix}", Parameter(first))

    def suffixes(self):
        """What the names of the arrays end in: for each layer one suffix per direction."""
        directions = ("", "_reverse") if self.bidirectional else ("",)
        return [[f"l{depth}{end}" for end in directions] for depth in range(self.num_layers)]

    def weights(self, suffix):
        """The arrays of one direction of one layer; None for those that it does without."""
        return (
            getattr(self, f"weight_ih_{suffix}"),
            getattr(self, f"weight_hh_{suffix}"),
            getattr(self, f"bias_ih_{suffix}", None),
            getattr(self, f"bias_hh_{suffix}", None),
            getattr(self, f"weight_hr_{suffix}", None),
        )

    def flatten_parameters(self):
        """Nothing: where the arrays lie is the compiler's business."""

    def __call__(self, input, hx=None):
        packed = hasattr(input, "lengths")
        batched = packed or input.ndim == 3
        transposed = self.batch_first and batched and not packed
        xs = input.padded if packed else input
        if not batched:
            xs = xs[:, None]
        elif transposed:
            xs = xs.swapaxes(0, 1)
        mask = input.mask() if packed else None
        xs, states = self.run(xs, self.start(hx, xs, batched), mask)
        if not batched:
            xs, states = xs[:, 0], [state[:, 0] for state in states]
        elif transposed:
            xs = xs.swapaxes(0, 1)
        output = input.replace(xs) if packed else xs
        return output, tuple(states) if self.mode == "LSTM" else states[0]

    def start(self, hx, xs, batched):
        """The first states: (h, c) for an LSTM, else (h,), each (depth, batch, size)."""
        if hx is not None:
            states = tuple(hx) if self.mode == "LSTM" else (hx,)
            return states if batched else tuple(state[:, None] for state in states)
        count = self.num_layers * (2 if self.bidirectional else 1)
        h = jnp.zeros((count, xs.shape[1], self.proj_size or self.hidden_size), xs.dtype)
        c = jnp.zeros((count, xs.shape[1], self.hidden_size), xs.dtype)
        return (h, c) if self.mode == "LSTM" else (h,)

    def run(self, xs, start, mask):
        """All layers over (time, batch, width): the last one's outputs, and all last states."""
        last = []
        for depth, suffixes in enumerate(self.suffixes()):
            if depth and self.training and self.dropout:
                xs = dropout(xs, self.dropout, key=draw_key())
            outputs = []
            for suffix in suffixes:
                state = tuple(s[len(last)] for s in start)
                backwards = suffix.endswith("_reverse")
                weights = self.weights(suffix)
                state, output = scan_time(self.mode, weights, xs, state, mask, reverse=backwards)
                outputs.append(output)
                last.append(state)
            xs = jnp.concatenate(outputs, axis=-1) if len(outputs) > 1 else outputs[0]
        return xs, [jnp.stack(states) for states in zip(*last)]


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
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
        )


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
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
        )


@layer("torch.nn.GRU")
class GRU(RNNBase):
    """Gated recurrent units; returns the outputs and the last h."""

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
    ):
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
        )
