"""Comparisons in place: the result is of the tensor's own dtype, 1.0 for what is true of floats."""

import jax.numpy as jnp

from transpile.rule import rule


@rule("torch.Tensor.eq_")
def eq_in_place(input, other):
    return (input == other).astype(input.dtype)


@rule("torch.Tensor.ne_", "torch.Tensor.not_equal_")
def ne_in_place(input, other):
    return (input != other).astype(input.dtype)


@rule("torch.Tensor.lt_", "torch.Tensor.less_")
def lt_in_place(input, other):
    return (input < other).astype(input.dtype)


@rule("torch.Tensor.le_", "torch.Tensor.less_equal_")
def le_in_place(input, other):
    return (input <= other).astype(input.dtype)


@rule("torch.Tensor.gt_", "torch.Tensor.greater_")
def gt_in_place(input, other):
    return (input > other).astype(input.dtype)


@rule("torch.Tensor.ge_", "torch.Tensor.greater_equal_")
def ge_in_place(input, other):
    return (input >= other).astype(input.dtype)


@rule("torch.Tensor.logical_and_")
def logical_and_in_place(input, other):
    return jnp.logical_and(input, other).astype(input.dtype)


@rule("torch.Tensor.logical_or_")
def logical_or_in_place(input, other):
    return jnp.logical_or(input, other).astype(input.dtype)


@rule("torch.Tensor.logical_xor_")
def logical_xor_in_place(input, other):
    return jnp.logical_xor(input, other).astype(input.dtype)


@rule("torch.Tensor.logical_not_")
def logical_not_in_place(input):
    return jnp.logical_not(input).astype(input.dtype)
