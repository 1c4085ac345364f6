"""Rounding, remainders and limits."""

import jax.numpy as jnp

from transpile.rule import known, rule


@rule("torch.clamp", "torch.clip", "torch.Tensor.clamp", "torch.Tensor.clip")
def clamp(input, min=None, max=None):
    """Limit to [min, max]; the gradient passes at the bounds as in torch (jnp.clip halves it there)."""
    if isinstance(min, (int, float)) and known(min == min) and max is None:
        return jnp.where(input < min, min, input)
    if isinstance(max, (int, float)) and known(max == max) and min is None:
        return jnp.where(input > max, max, input)
    if min is not None:
        input = jnp.where((input < min) | jnp.isnan(min), min, input)
    if max is not None:
        input = jnp.where((input > max) | jnp.isnan(max), max, input)
    return input


@rule(
    "torch.clamp[compared]", "torch.clip[compared]", "torch.Tensor.clamp[compared]", "torch.Tensor.clip[compared]"
)
def clamp_without_gradient(input, min=None, max=None):
    if max is None:
        return jnp.maximum(input, min)
    if min is None:
        return jnp.minimum(input, max)
    return jnp.clip(input, min, max)


@rule("torch.clamp_min", "torch.Tensor.clamp_min")
def clamp_min(input, min):
    return clamp(input, min)


@rule("torch.clamp_max", "torch.Tensor.clamp_max")
def clamp_max(input, max):
    return clamp(input, max=max)


@rule("torch.clamp_min[compared]", "torch.Tensor.clamp_min[compared]")
def clamp_min_without_gradient(input, min):
    return jnp.maximum(input, min)


@rule("torch.clamp_max[compared]", "torch.Tensor.clamp_max[compared]")
def clamp_max_without_gradient(input, max):
    return jnp.minimum(input, max)


@rule("torch.floor", "torch.Tensor.floor")
def floor(input):
    return jnp.floor(input)


@rule("torch.ceil", "torch.Tensor.ceil")
def ceil(input):
    return jnp.ceil(input)


@rule("torch.round", "torch.special.round", "torch.Tensor.round")
def round_(input, *, decimals=0):
    if decimals == 0:
        return jnp.round(input)
    return jnp.round(input, decimals)


@rule("torch.trunc", "torch.fix", "torch.Tensor.trunc", "torch.Tensor.fix")
def trunc(input):
    return jnp.trunc(input)


@rule("torch.frac", "torch.Tensor.frac")
def frac(input):
    return input - jnp.trunc(input)


@rule("torch.remainder", "torch.Tensor.remainder")
def remainder(input, other):
    return input % other


@rule("torch.fmod", "torch.Tensor.fmod")
def fmod(input, other):
    return jnp.fmod(input, other)


@rule("torch.nan_to_num", "torch.Tensor.nan_to_num")
def nan_to_num(input, nan=None, posinf=None, neginf=None):
    if nan is None:
        return jnp.nan_to_num(input, posinf=posinf, neginf=neginf)
    return jnp.nan_to_num(input, nan=nan, posinf=posinf, neginf=neginf)
