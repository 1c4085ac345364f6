"""Linear layers, and the layer that does nothing."""

import math

import jax.numpy as jnp

from transpile.layer import Module, Parameter, draw_key, layer

from .beginnings import symmetric_uniform


@layer("torch.nn.Linear", "torch.nn.modules.linear.NonDynamicallyQuantizableLinear")
class Linear(Module):
    """``x @ weight.T + bias`` on the last axis."""

    def __init__(self, in_features, out_features, bias=True, *, dtype=None):
        self.in_features, self.out_features = in_features, out_features
        bound = 1 / math.sqrt(in_features) if in_features else 0
        shape = (out_features, in_features)
        self.weight = Parameter(symmetric_uniform(draw_key(), shape, bound, dtype))
        self.bias = (
            Parameter(symmetric_uniform(draw_key(), shape[:1], bound, dtype)) if bias else None
        )

    def __call__(self, input):
        output = input @ self.weight.T
        return output if self.bias is None else output + self.bias


@layer("torch.nn.Bilinear")
class Bilinear(Module):
    """``input1 @ weight[o] @ input2 + bias[o]`` for each output ``o``."""

    def __init__(self, in1_features, in2_features, out_features, bias=True):
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        bound = 1 / math.sqrt(in1_features)
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(symmetric_uniform(draw_key(), shape, bound))
        self.bias = Parameter(symmetric_uniform(draw_key(), shape[:1], bound)) if bias else None

    def __call__(self, input1, input2):
        output = jnp.einsum("...i,oij,...j->...o", input1, self.weight, input2)
        return output if self.bias is None else output + self.bias


@layer("torch.nn.Identity")
class Identity(Module):
    """Its input."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, input):
        return input


@layer(
    "torch.ao.quantization.QuantStub",
    "torch.ao.quantization.DeQuantStub",
    "torch.quantization.QuantStub",
    "torch.quantization.DeQuantStub",
)
class QuantStub(Module):
    """The place of a quantization, which torch too leaves out until the model is converted."""

    def __init__(self, qconfig=None):
        pass

    def __call__(self, x):
        return x
