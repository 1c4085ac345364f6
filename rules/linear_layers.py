"""Linear layers, and the layers that only reshape."""

import math

import jax
import jax.numpy as jnp

from transpile.rule import layer

from .module import Module
from .shape import flatten_dims, unflatten_dim


@layer("torch.nn.Linear", "torch.nn.modules.linear.NonDynamicallyQuantizableLinear")
class Linear(Module):
    """``x @ weight.T + bias`` on the last axis."""

    def __init__(self, in_features, out_features, bias=True):
        self.in_features, self.out_features, self.bias = in_features, out_features, bias

    def init(self, key):
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
        weight_key, bias_key = jax.random.split(key)
        shape = (self.out_features, self.in_features)
        params = {"weight": jax.random.uniform(weight_key, shape, minval=-bound, maxval=bound)}
        if self.bias:
            params["bias"] = jax.random.uniform(bias_key, shape[:1], minval=-bound, maxval=bound)
        return params

    def __call__(self, params, input):
        output = input @ params["weight"].T
        return output + params["bias"] if "bias" in params else output


@layer("torch.nn.Bilinear")
class Bilinear(Module):
    """``input1 @ weight[o] @ input2 + bias[o]`` for each output ``o``."""

    def __init__(self, in1_features, in2_features, out_features, bias=True):
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.bias = bias

    def init(self, key):
        bound = 1 / math.sqrt(self.in1_features)
        weight_key, bias_key = jax.random.split(key)
        shape = (self.out_features, self.in1_features, self.in2_features)
        params = {"weight": jax.random.uniform(weight_key, shape, minval=-bound, maxval=bound)}
        if self.bias:
            params["bias"] = jax.random.uniform(bias_key, shape[:1], minval=-bound, maxval=bound)
        return params

    def __call__(self, params, input1, input2):
        output = jnp.einsum("...i,oij,...j->...o", input1, params["weight"], input2)
        return output + params["bias"] if "bias" in params else output


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
    """The place of a quantization, which torch too leaves out until the model is converted: its input."""

    def __init__(self, qconfig=None):
        pass

    def __call__(self, x):
        return x


@layer("torch.nn.Flatten")
class Flatten(Module):
    """The axes from start_dim to end_dim, both included, as one."""

    def __init__(self, start_dim=1, end_dim=-1):
        self.start_dim, self.end_dim = start_dim, end_dim

    def __call__(self, input):
        return flatten_dims(input, self.start_dim, self.end_dim)


@layer("torch.nn.Unflatten")
class Unflatten(Module):
    """Axis ``dim`` as axes of these sizes; one of them may be -1."""

    def __init__(self, dim, unflattened_size):
        self.dim, self.unflattened_size = dim, unflattened_size

    def __call__(self, input):
        return unflatten_dim(input, self.dim, self.unflattened_size)
