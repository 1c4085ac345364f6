"""Elementwise arithmetic, powers, exponentials and logarithms."""

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import known, rule


@rule("torch.add", "torch.Tensor.add")
def add(input, other, *, alpha=1):
    if known(alpha == 1):
        return input + other
    return input + alpha * other


@rule("torch.sub", "torch.subtract", "torch.Tensor.sub", "torch.Tensor.subtract")
def sub(input, other, *, alpha=1):
    if known(alpha == 1):
        return input - other
    return input - alpha * other


# Signatures that torch has deprecated and still takes have the scale before what it scales: `x.add_(2, y)`.


@rule("torch.add", "torch.Tensor.add", deprecated=True)
def add_scaled(input, alpha, other):
    return input + alpha * other


@rule("torch.sub", "torch.Tensor.sub", deprecated=True)
def sub_scaled(input, alpha, other):
    return input - alpha * other


@rule("torch.rsub")
def rsub(input, other, alpha=1):
    if known(alpha == 1):
        return other - input
    return other - alpha * input


@rule("torch.mul", "torch.multiply", "torch.Tensor.mul", "torch.Tensor.multiply")
def mul(input, other):
    return input * other


@rule("torch.div", "torch.divide", "torch.Tensor.div", "torch.Tensor.divide")
def div(input, other, *, rounding_mode=None):
    if rounding_mode is None:
        return input / other
    if rounding_mode == "floor":
        return input // other
    return divide_toward_zero(input, other)


def divide_toward_zero(x, y):
    """x / y without its fraction; exact for integers, which a float32 quotient is not past 2**24. Of sizes it is a size."""
    if isinstance(x, int) and isinstance(y, int):
        return x // y if (x < 0) == (y < 0) else -(-x // y)
    dtype = jnp.result_type(x, y)
    if not jnp.issubdtype(dtype, jnp.integer):
        return jnp.trunc(x / y)
    return lax.div(*jnp.broadcast_arrays(jnp.asarray(x, dtype), jnp.asarray(y, dtype)))


@rule("torch.true_divide", "torch.Tensor.true_divide")
def true_divide(input, other):
    return input / other


@rule("torch.floor_divide", "torch.Tensor.floor_divide")
def floor_divide(input, other):
    return input // other


@rule("torch.neg", "torch.negative", "torch.Tensor.neg", "torch.Tensor.negative")
def neg(input):
    return -input


@rule("torch.positive", "torch.Tensor.positive")
def positive(input):
    return input


@rule("torch.pow", "torch.Tensor.pow")
def power(input, exponent: float):
    return input**exponent


@rule("torch.pow", "torch.Tensor.pow")
def power_of_number(input: float, exponent):
    return input**exponent


@rule("torch.pow", "torch.Tensor.pow")
def power_of_tensors(input, exponent):
    """The power of one tensor by another; at 0 ** 0, where JAX's gradient is NaN, torch's is 0."""
    return jnp.where((input == 0) & (exponent == 0), 1, input) ** exponent


@rule("torch.float_power", "torch.Tensor.float_power")
def float_power(input, exponent):
    """The power in the widest floats, float64 where x64 is on."""
    dtype = jnp.promote_types(jnp.result_type(input, exponent), jnp.zeros((), float).dtype)
    return power_of_tensors(jnp.asarray(input, dtype), jnp.asarray(exponent, dtype))


@rule("torch.square", "torch.Tensor.square")
def square(input):
    return jnp.square(input)


@rule("torch.sqrt", "torch.Tensor.sqrt")
def sqrt(input):
    return jnp.sqrt(input)


@rule("torch.rsqrt", "torch.Tensor.rsqrt")
def rsqrt(input):
    if known(not jnp.issubdtype(input.dtype, jnp.inexact)):  # which lax.rsqrt asks for
        return 1 / jnp.sqrt(input)
    return lax.rsqrt(input)


@rule("torch.reciprocal", "torch.Tensor.reciprocal")
def reciprocal(input):
    return 1 / input


@rule("torch.exp", "torch.Tensor.exp")
def exp(input):
    return jnp.exp(input)


@rule("torch.exp2", "torch.special.exp2", "torch.Tensor.exp2")
def exp2(input):
    return jnp.exp2(input)


@rule("torch.expm1", "torch.special.expm1", "torch.Tensor.expm1")
def expm1(input):
    return jnp.expm1(input)


@rule("torch.log", "torch.Tensor.log")
def log(input):
    return jnp.log(input)


@rule("torch.log2", "torch.Tensor.log2")
def log2(input):
    return jnp.log2(input)


@rule("torch.log10", "torch.Tensor.log10")
def log10(input):
    return jnp.log10(input)


@rule("torch.log1p", "torch.special.log1p", "torch.Tensor.log1p")
def log1p(input):
    return jnp.log1p(input)


@rule("torch.logaddexp", "torch.Tensor.logaddexp")
def logaddexp(input, other):
    return jnp.logaddexp(input, other)


@rule("torch.logaddexp2", "torch.Tensor.logaddexp2")
def logaddexp2(input, other):
    return jnp.logaddexp2(input, other)


@rule("torch.sigmoid", "torch.special.expit", "torch.nn.functional.sigmoid", "torch.Tensor.sigmoid")
def sigmoid(input):
    if known(not jnp.issubdtype(input.dtype, jnp.inexact)):  # which jax.nn.sigmoid asks for
        return jax.scipy.special.expit(input)
    return jax.nn.sigmoid(input)


@rule("torch.abs", "torch.absolute", "torch.Tensor.abs", "torch.Tensor.absolute")
def absolute(input):
    """The absolute value, with gradient 0 at 0 as torch has it (1 in jnp.abs)."""
    return jnp.where(input == 0, 0, jnp.abs(input))


@rule(
    "torch.abs[compared]", "torch.absolute[compared]", "torch.Tensor.abs[compared]", "torch.Tensor.absolute[compared]"
)
def absolute_without_gradient(input):
    return jnp.abs(input)


@rule("torch.sign", "torch.sgn", "torch.Tensor.sign", "torch.Tensor.sgn")
def sign(input):
    return jnp.nan_to_num(jnp.sign(input))  # the sign of NaN is 0


@rule("torch.copysign", "torch.Tensor.copysign")
def copysign(input, other):
    return jnp.copysign(absolute(input), other)


@rule("torch.lerp", "torch.Tensor.lerp")
def lerp(input, end, weight):
    return input + weight * (end - input)


@rule("torch.addcmul", "torch.Tensor.addcmul")
def addcmul(input, tensor1, tensor2, *, value=1):
    if value == 1:
        return input + tensor1 * tensor2
    return input + value * tensor1 * tensor2


@rule("torch.addcdiv", "torch.Tensor.addcdiv")
def addcdiv(input, tensor1, tensor2, *, value=1):
    if value == 1:
        return input + tensor1 / tensor2
    return input + value * tensor1 / tensor2


@rule("torch.addcmul", "torch.Tensor.addcmul")
def addcmul_scaled(input, value, tensor1, tensor2):
    return input + value * tensor1 * tensor2


@rule("torch.addcdiv", "torch.Tensor.addcdiv")
def addcdiv_scaled(input, value, tensor1, tensor2):
    return input + value * tensor1 / tensor2


@rule("torch.gcd", "torch.Tensor.gcd")
def gcd(input, other):
    return jnp.gcd(input, other)


@rule("torch.lcm", "torch.Tensor.lcm")
def lcm(input, other):
    return jnp.lcm(input, other)


@rule("torch.ldexp", "torch.Tensor.ldexp")
def ldexp(input, other):
    """input * 2**other, in the floats of the input where other is whole."""
    return (input * 2.0**other).astype(jnp.result_type(input, other, 1.0))


@rule("torch.frexp", "torch.Tensor.frexp")
def frexp(input):
    return jnp.frexp(input)


@rule("torch.nextafter", "torch.Tensor.nextafter")
def nextafter(input, other):
    return jnp.nextafter(input, other)
