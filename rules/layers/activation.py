"""Activation layers."""

import functools

import jax
import jax.numpy as jnp

from transpile.layer import Module, Parameter, draw_key, layer

from ..activation import (
    hardshrink,
    hardtanh,
    leaky_relu,
    prelu,
    rrelu,
    softplus,
    softshrink,
    threshold,
)
from ..softmax import in_float32


@layer("torch.nn.ReLU")
class ReLU(Module):
    """max(x, 0)."""

    def __init__(self, inplace=False):
        self.inplace = inplace

    def __call__(self, input):
        return jax.nn.relu(input)


@layer("torch.nn.ReLU6")
class ReLU6(Module):
    """min(max(x, 0), 6)."""

    def __init__(self, inplace=False):
        self.inplace = inplace

    def __call__(self, input):
        return jax.nn.relu6(input)


@layer("torch.nn.LeakyReLU")
class LeakyReLU(Module):
    """x, or negative_slope * x where x is negative."""

    def __init__(self, negative_slope=0.01, inplace=False):
        self.negative_slope = negative_slope
        self.inplace = inplace

    def __call__(self, input):
        return leaky_relu(input, self.negative_slope)


@layer("torch.nn.PReLU")
class PReLU(Module):
    """Leaky relu with learned slopes: one, or one for each channel (axis 1)."""

    def __init__(self, num_parameters=1, init=0.25):
        self.num_parameters = num_parameters
        self.weight = Parameter(jnp.full(num_parameters, init, float))

    def __call__(self, input):
        return prelu(input, self.weight)


@layer("torch.nn.RReLU")
class RReLU(Module):
    """Leaky relu with a random slope for each value in training, the middle one otherwise."""

    def __init__(self, lower=1 / 8, upper=1 / 3, inplace=False):
        self.lower, self.upper = lower, upper
        self.inplace = inplace

    def __call__(self, input):
        key = draw_key() if self.training else None
        return rrelu(input, self.lower, self.upper, self.training, key=key)


@layer("torch.nn.ELU")
class ELU(Module):
    """x, or alpha * (exp(x) - 1) where x is negative."""

    def __init__(self, alpha=1.0, inplace=False):
        self.alpha = alpha
        self.inplace = inplace

    def __call__(self, input):
        return jax.nn.elu(input, self.alpha)


@layer("torch.nn.CELU")
class CELU(Module):
    """x, or alpha * (exp(x / alpha) - 1) where x is negative."""

    def __init__(self, alpha=1.0, inplace=False):
        self.alpha = alpha
        self.inplace = inplace

    def __call__(self, input):
        return jax.nn.celu(input, self.alpha)


@layer("torch.nn.SELU")
class SELU(Module):
    """ELU scaled so that mean 0 and variance 1 are kept."""

    def __init__(self, inplace=False):
        self.inplace = inplace

    def __call__(self, input):
        return jax.nn.selu(input)


@layer("torch.nn.GELU")
class GELU(Module):
    """x times the normal distribution function, or the tanh form of it."""

    def __init__(self, approximate="none"):
        self.approximate = approximate

    def __call__(self, input):
        return in_float32(
            functools.partial(jax.nn.gelu, approximate=self.approximate == "tanh"), input
        )


@layer("torch.nn.SiLU")
class SiLU(Module):
    """x * sigmoid(x)."""

    def __init__(self, inplace=False):
        self.inplace = inplace

    def __call__(self, input):
        return jax.nn.silu(input)


@layer("torch.nn.Mish")
class Mish(Module):
    """x * tanh(softplus(x))."""

    def __init__(self, inplace=False):
        self.inplace = inplace

    def __call__(self, input):
        return jax.nn.mish(input)


@layer("torch.nn.GLU")
class GLU(Module):
    """The first half of an axis times the sigmoid of the second."""

    def __init__(self, dim=-1):
        self.dim = dim

    def __call__(self, input):
        return jax.nn.glu(input, axis=self.dim)


@layer("torch.nn.Sigmoid")
class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def __call__(self, input):
        return jax.nn.sigmoid(input)


@layer("torch.nn.LogSigmoid")
class LogSigmoid(Module):
    """log(sigmoid(x))."""

    def __call__(self, input):
        return jax.nn.log_sigmoid(input)


@layer("torch.nn.Tanh")
class Tanh(Module):
    """tanh(x)."""

    def __call__(self, input):
        return jnp.tanh(input)


@layer("torch.nn.Tanhshrink")
class Tanhshrink(Module):
    """x - tanh(x)."""

    def __call__(self, input):
        return input - jnp.tanh(input)


@layer("torch.nn.Softplus")
class Softplus(Module):
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x is above the threshold."""

    def __init__(self, beta=1.0, threshold=20.0):
        self.beta, self.threshold = beta, threshold

    def __call__(self, input):
        return softplus(input, self.beta, self.threshold)


@layer("torch.nn.Softsign")
class Softsign(Module):
    """x / (1 + |x|)."""

    def __call__(self, input):
        return jax.nn.soft_sign(input)


@layer("torch.nn.Softshrink")
class Softshrink(Module):
    """x moved towards 0 by lambd."""

    def __init__(self, lambd=0.5):
        self.lambd = lambd

    def __call__(self, input):
        return softshrink(input, self.lambd)


@layer("torch.nn.Hardshrink")
class Hardshrink(Module):
    """x, or 0 where |x| is at most lambd."""

    def __init__(self, lambd=0.5):
        self.lambd = lambd

    def __call__(self, input):
        return hardshrink(input, self.lambd)


@layer("torch.nn.Hardtanh")
class Hardtanh(Module):
    """x limited to [min_val, max_val]."""

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        self.min_val = min_val if min_value is None else min_value  # torch's old words
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace

    def __call__(self, input):
        return hardtanh(input, self.min_val, self.max_val)


@layer("torch.nn.Hardsigmoid")
class Hardsigmoid(Module):
    """relu6(x + 3) / 6."""

    def __init__(self, inplace=False):
        self.inplace = inplace

    def __call__(self, input):
        return jax.nn.hard_sigmoid(input)


@layer("torch.nn.Hardswish")
class Hardswish(Module):
    """x * relu6(x + 3) / 6."""

    def __init__(self, inplace=False):
        self.inplace = inplace

    def __call__(self, input):
        return jax.nn.hard_swish(input)


@layer("torch.nn.Threshold")
class Threshold(Module):
    """x, or value where x is at most the threshold."""

    def __init__(self, threshold, value, inplace=False):
        self.threshold, self.value = threshold, value
        self.inplace = inplace

    def __call__(self, input):
        return threshold(input, self.threshold, self.value)
