"""Complex tensors and their parts."""

import math

import jax.numpy as jnp
from jax import lax

from transpile.rule import rule


@rule("torch.complex")
def complex_(real, imag):
    return lax.complex(*jnp.broadcast_arrays(real, imag))


@rule("torch.polar")
def polar(abs, angle):
    """Complex numbers from magnitudes and angles in radians."""
    return lax.complex(abs * jnp.cos(angle), abs * jnp.sin(angle))


@rule("torch.view_as_complex")
def view_as_complex(input):
    return lax.complex(input[..., 0], input[..., 1])


@rule("torch.view_as_real")
def view_as_real(input):
    return jnp.stack([input.real, input.imag], axis=-1)


@rule("torch.real", "torch.Tensor.real")
def real(input):
    return input.real


@rule("torch.imag", "torch.Tensor.imag")
def imag(input):
    return input.imag


@rule("torch.conj", "torch.conj_physical", "torch.Tensor.conj", "torch.Tensor.conj_physical")
def conj(input):
    return jnp.conj(input)


@rule("torch.resolve_conj", "torch.resolve_neg", "torch.Tensor.resolve_conj", "torch.Tensor.resolve_neg")
def resolve_conj(input):
    return input


@rule("torch.is_conj", "torch.is_neg", "torch.Tensor.is_conj", "torch.Tensor.is_neg")
def is_conj(input):
    return False


@rule("torch.angle", "torch.Tensor.angle")
def angle(input):
    """The argument in radians, with gradient 0 at 0; of a real number 0 or pi, or NaN for NaN."""
    if jnp.iscomplexobj(input):
        return jnp.angle(jnp.where(input == 0, lax.stop_gradient(input), input))
    return jnp.where(jnp.isnan(input), input, jnp.where(input < 0, math.pi, 0))
