"""Layers that torch's quantization watches: in floating point they compute what they are named for."""

import jax
import jax.numpy as jnp

from transpile.layer import Module, layer


@layer("torch.ao.nn.quantized.FloatFunctional", "torch.nn.quantized.FloatFunctional")
class FloatFunctional(Module):
    """Operators as methods of a module."""

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
