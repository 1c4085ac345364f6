"""Activation functions."""

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import rule


@rule("torch.relu", "torch.Tensor.relu", "torch.nn.functional.relu")
def relu(input):
    return jax.nn.relu(input)


@rule("torch.nn.functional.relu6")
def relu6(input):
    return jax.nn.relu6(input)


@rule("torch.nn.functional.leaky_relu")
def leaky_relu(input, negative_slope=0.01):
    return jnp.where(input > 0, input, negative_slope * input)  # jax.nn.leaky_relu has another gradient at 0


@rule("torch.nn.functional.gelu")
def gelu(input, approximate="none"):
    if approximate == "tanh":
        return jax.nn.gelu(input)
    return jax.nn.gelu(input, approximate=False)


@rule("torch.nn.functional.silu")
def silu(input):
    return jax.nn.silu(input)


@rule("torch.nn.functional.mish")
def mish(input):
    return jax.nn.mish(input)


@rule("torch.nn.functional.elu")
def elu(input, alpha=1.0):
    if alpha == 1:
        return jax.nn.elu(input)
    return jax.nn.elu(input, alpha)


@rule("torch.selu", "torch.nn.functional.selu")
def selu(input):
    return jax.nn.selu(input)


@rule("torch.celu", "torch.nn.functional.celu")
def celu(input, alpha=1.0):
    if alpha == 1:
        return jax.nn.celu(input)
    return jax.nn.celu(input, alpha)


@rule("torch.nn.functional.softplus")
def softplus(input, beta=1.0, threshold=20.0):
    if threshold == 20:  # from there on torch is linear, which softplus itself is to 2e-9
        if beta == 1:
            return jax.nn.softplus(input)
        return jax.nn.softplus(beta * input) / beta
    return jnp.where(beta * input > threshold, input, jax.nn.softplus(beta * input) / beta)


@rule("torch.nn.functional.logsigmoid")
def logsigmoid(input):
    return jax.nn.log_sigmoid(input)


@rule("torch.nn.functional.softsign")
def softsign(input):
    return jax.nn.soft_sign(input)


@rule("torch.nn.functional.tanhshrink")
def tanhshrink(input):
    return input - jnp.tanh(input)


@rule("torch.nn.functional.glu")
def glu(input, dim=-1):
    if dim == -1:
        return jax.nn.glu(input)
    return jax.nn.glu(input, axis=dim)


@rule("torch.nn.functional.hardtanh")
def hardtanh(input, min_val=-1.0, max_val=1.0):
    """``input`` limited to [min_val, max_val]; no gradient at the limits, where jnp.clip has half of it."""
    inside = (input > min_val) & (input < max_val)
    return jnp.where(inside, input, lax.stop_gradient(jnp.clip(input, min_val, max_val))).astype(input.dtype)


@rule("torch.nn.functional.hardsigmoid")
def hardsigmoid(input):
    return jax.nn.hard_sigmoid(input)


@rule("torch.nn.functional.hardswish")
def hardswish(input):
    return jax.nn.hard_swish(input)


@rule("torch.hardshrink", "torch.Tensor.hardshrink", "torch.nn.functional.hardshrink")
def hardshrink(input, lambd=0.5):
    return jnp.where(jnp.abs(input) <= lambd, 0, input)


@rule("torch.nn.functional.softshrink")
def softshrink(input, lambd=0.5):
    """``input`` moved towards 0 by lambd, and 0 where it would pass it; NaN stays."""
    return jnp.where(input > lambd, input - lambd, jnp.where(input < -lambd, input + lambd, 0 * input))


@rule("torch.threshold", "torch.nn.functional.threshold")
def threshold(input, threshold, value):
    return jnp.where(input <= threshold, value, input)


@rule("torch.prelu", "torch.Tensor.prelu", "torch.nn.functional.prelu")
def prelu(input, weight):
    """Leaky relu with one learned slope, or one for each channel (axis 1)."""
    slope = weight if weight.size == 1 or input.ndim < 2 else weight.reshape(-1, *[1] * (input.ndim - 2))
    return jnp.where(input > 0, input, slope.reshape(slope.shape if input.ndim else ()) * input)


@rule("torch.rrelu", "torch.nn.functional.rrelu")
def rrelu(input, lower=1 / 8, upper=1 / 3, training=False, generator=None, *, key=None):
    """Leaky relu whose slope is drawn for each value in training, and is the middle one otherwise."""
    slope = (lower + upper) / 2
    if training:
        slope = jax.random.uniform(key, input.shape, input.dtype, lower, upper)
    return leaky_relu(input, slope)
