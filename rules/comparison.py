"""Comparisons, logical and bitwise operations, and choices between two tensors."""

import jax.numpy as jnp

from transpile.rule import Tensor, known, rule


@rule("torch.eq", "torch.Tensor.eq")
def eq(input, other):
    return input == other


@rule("torch.ne", "torch.not_equal", "torch.Tensor.ne", "torch.Tensor.not_equal")
def ne(input, other):
    return input != other


@rule("torch.lt", "torch.less", "torch.Tensor.lt", "torch.Tensor.less")
def lt(input, other):
    return input < other


@rule("torch.le", "torch.less_equal", "torch.Tensor.le", "torch.Tensor.less_equal")
def le(input, other):
    return input <= other


@rule("torch.gt", "torch.greater", "torch.Tensor.gt", "torch.Tensor.greater")
def gt(input, other):
    return input > other


@rule("torch.ge", "torch.greater_equal", "torch.Tensor.ge", "torch.Tensor.greater_equal")
def ge(input, other):
    return input >= other


@rule("torch.equal", "torch.Tensor.equal")
def equal(input, other):
    """Whether two arrays are the same: Python's False where their shapes differ, so that a branch on it takes its way at once."""
    if jnp.shape(input) != jnp.shape(other):
        return False
    return jnp.array_equal(input, other)


@rule("torch.isclose", "torch.Tensor.isclose")
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    if rtol == 1e-05 and atol == 1e-08:
        return jnp.isclose(input, other, equal_nan=equal_nan)
    return jnp.isclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)


@rule("torch.allclose", "torch.Tensor.allclose")
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    if rtol == 1e-05 and atol == 1e-08:
        return jnp.allclose(input, other, equal_nan=equal_nan)
    return jnp.allclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)


@rule("torch.isin")
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    return jnp.isin(elements, test_elements, invert=invert)


@rule("torch.isnan", "torch.Tensor.isnan")
def isnan(input):
    return jnp.isnan(input)


@rule("torch.isinf", "torch.Tensor.isinf")
def isinf(input):
    return jnp.isinf(input)


@rule("torch.isfinite", "torch.Tensor.isfinite")
def isfinite(input):
    return jnp.isfinite(input)


@rule("torch.isposinf", "torch.Tensor.isposinf")
def isposinf(input):
    return jnp.isposinf(input)


@rule("torch.isneginf", "torch.Tensor.isneginf")
def isneginf(input):
    return jnp.isneginf(input)


@rule("torch.isreal", "torch.Tensor.isreal")
def isreal(input):
    return jnp.isreal(input)


@rule("torch.signbit", "torch.Tensor.signbit")
def signbit(input):
    return jnp.signbit(input)


@rule("torch.logical_and", "torch.Tensor.logical_and")
def logical_and(input, other):
    return jnp.logical_and(input, other)


@rule("torch.logical_or", "torch.Tensor.logical_or")
def logical_or(input, other):
    return jnp.logical_or(input, other)


@rule("torch.logical_xor", "torch.Tensor.logical_xor")
def logical_xor(input, other):
    return jnp.logical_xor(input, other)


@rule("torch.logical_not", "torch.Tensor.logical_not")
def logical_not(input):
    return jnp.logical_not(input)


@rule("torch.bitwise_and", "torch.Tensor.bitwise_and")
def bitwise_and(input, other):
    return input & other


@rule("torch.bitwise_or", "torch.Tensor.bitwise_or")
def bitwise_or(input, other):
    return input | other


@rule("torch.bitwise_xor", "torch.Tensor.bitwise_xor")
def bitwise_xor(input, other):
    return input ^ other


@rule("torch.bitwise_not", "torch.Tensor.bitwise_not")
def bitwise_not(input):
    return ~input


@rule("torch.bitwise_left_shift", "torch.Tensor.bitwise_left_shift")
def bitwise_left_shift(input, other):
    return input << other


@rule("torch.bitwise_right_shift", "torch.Tensor.bitwise_right_shift")
def bitwise_right_shift(input, other):
    return input >> other


@rule("torch.maximum", "torch.Tensor.maximum")
def maximum(input, other):
    return jnp.maximum(input, other)


@rule("torch.minimum", "torch.Tensor.minimum")
def minimum(input, other):
    return jnp.minimum(input, other)


@rule("torch.fmax", "torch.Tensor.fmax")
def fmax(input, other):
    """The larger of the two, ignoring NaN; among equals all the gradient goes to the first."""
    return jnp.where((input >= other) | jnp.isnan(other), input, other)


@rule("torch.fmin", "torch.Tensor.fmin")
def fmin(input, other):
    """The smaller of the two, ignoring NaN; among equals all the gradient goes to the first."""
    return jnp.where((input <= other) | jnp.isnan(other), input, other)


@rule("torch.heaviside", "torch.Tensor.heaviside")
def heaviside(input, values):
    return jnp.where(input == 0, values, input > 0)


@rule("torch.where")
def where(condition, input: Tensor, other):
    return jnp.where(condition, input, other)


@rule("torch.where")
def where_other(condition, input, other: Tensor):
    return jnp.where(condition, input, other)


@rule("torch.where")
def where_bools(condition, input: bool, other: bool):
    return jnp.where(condition, input, other)


@rule("torch.where")
def where_ints(condition, input: int, other: int):
    return jnp.where(condition, input, other).astype(int)  # without it weakly typed, unlike torch's


@rule("torch.where")
def where_floats(condition, input: float, other: float):
    return jnp.where(condition, input, other).astype(float)


@rule("torch.where", by_data=True)
def where_nonzero(condition):
    return jnp.nonzero(condition)


@rule("torch.where[padded]")
def where_padded(condition):
    """The places where the condition holds, filled up to as many as there can be with places outside
    of any array: where ``x[i]`` reads the last, and ``x.at[i]`` writes nothing."""
    return jnp.nonzero(condition, size=condition.size, fill_value=jnp.iinfo(jnp.int32).max)


@rule("torch.Tensor.where")
def where_method(input, condition, other):
    return jnp.where(condition, input, other)


@rule("torch.masked_fill", "torch.Tensor.masked_fill")
def masked_fill(input, mask, value):
    if isinstance(value, float) and not known(jnp.issubdtype(input.dtype, jnp.integer)):
        return jnp.where(mask, value, input)
    if isinstance(value, int) and known(jnp.issubdtype(input.dtype, jnp.floating)):
        return jnp.where(mask, value, input)
    return jnp.where(mask, value, input).astype(input.dtype)
