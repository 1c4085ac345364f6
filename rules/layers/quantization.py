"""Layers that torch's quantization watches: in floating point they compute what they are named for."""

import jax
import jax.numpy as jnp

from transpile.layer import Module, layer
from transpile.rule import Unsupported


@layer("torch.ao.nn.quantized.FloatFunctional", "torch.nn.quantized.FloatFunctional")
class FloatFunctional(Module):
    """Operators as methods of a module."""

    def __init__(self):
        pass

    def __call__(self, x):
        raise Unsupported("a FloatFunctional is not called: it has add(), mul(), cat()")

    def add(self, x, y):
        return x + y

    def add_scalar(self, x, y):
        return x + y

    def mul(self, x, y):
        return x * y

    def mul_scalar(self, x, y):
        return x * y

    def cat(self, x, dim=0):
        return jnp.concatenate(x, axis=dim)

    def add_relu(self, x, y):
        return jax.nn.relu(x + y)

    def matmul(self, x, y):
        return x @ y
