"""Trigonometric and hyperbolic functions and their inverses; all angles in radians."""

import jax.numpy as jnp
from jax import lax

from transpile.rule import rule


@rule("torch.sin", "torch.Tensor.sin")
def sin(input):
    return jnp.sin(input)


@rule("torch.cos", "torch.Tensor.cos")
def cos(input):
    return jnp.cos(input)


@rule("torch.tan", "torch.Tensor.tan")
def tan(input):
    return jnp.tan(input)


@rule("torch.asin", "torch.arcsin", "torch.Tensor.asin", "torch.Tensor.arcsin")
def asin(input):
    return jnp.arcsin(input)


@rule("torch.acos", "torch.arccos", "torch.Tensor.acos", "torch.Tensor.arccos")
def acos(input):
    return jnp.arccos(input)


@rule("torch.atan", "torch.arctan", "torch.Tensor.atan", "torch.Tensor.arctan")
def atan(input):
    return jnp.arctan(input)


@rule("torch.atan2", "torch.arctan2", "torch.Tensor.atan2", "torch.Tensor.arctan2")
def atan2(input, other):
    """The angle of the point (other, input) in radians; at the origin the gradient is 0, which is NaN in JAX."""
    origin = (input == 0) & (other == 0)
    beside = jnp.arctan2(input, jnp.where(origin, 1, other))
    return jnp.where(origin, lax.stop_gradient(jnp.arctan2(input, other)), beside)


@rule("torch.sinh", "torch.Tensor.sinh")
def sinh(input):
    return jnp.sinh(input)


@rule("torch.cosh", "torch.Tensor.cosh")
def cosh(input):
    return jnp.cosh(input)


@rule("torch.tanh", "torch.nn.functional.tanh", "torch.Tensor.tanh")
def tanh(input):
    return jnp.tanh(input)


@rule("torch.asinh", "torch.arcsinh", "torch.Tensor.asinh", "torch.Tensor.arcsinh")
def asinh(input):
    return jnp.arcsinh(input)


@rule("torch.acosh", "torch.arccosh", "torch.Tensor.acosh", "torch.Tensor.arccosh")
def acosh(input):
    return jnp.arccosh(input)


@rule("torch.atanh", "torch.arctanh", "torch.Tensor.atanh", "torch.Tensor.arctanh")
def atanh(input):
    return jnp.arctanh(input)


@rule("torch.sinc", "torch.special.sinc", "torch.Tensor.sinc")
def sinc(input):
    return jnp.sinc(input)


@rule("torch.hypot", "torch.Tensor.hypot")
def hypot(input, other):
    return jnp.hypot(input, other)


@rule("torch.deg2rad", "torch.Tensor.deg2rad")
def deg2rad(input):
    return jnp.deg2rad(input)


@rule("torch.rad2deg", "torch.Tensor.rad2deg")
def rad2deg(input):
    return jnp.rad2deg(input)
