"""torch.Tensor(...), torch.LongTensor(...) and the other constructors by type.

Several numbers or a torch.Size are sizes, a list, a tuple or an array holds values, and a lone number is a size.
"""

import jax.numpy as jnp
from jax import lax

from transpile.rule import Size, rule


def legacy_tensor(data, dtype):
    """torch.FloatTensor(data) and its like for one argument: a size, or a list or array of values."""
    if isinstance(data, tuple):
        raise ValueError("a tuple may stand for sizes or for values: write zeros(sizes) or tensor(list(values))")
    if isinstance(data, int):
        return jnp.zeros(data, dtype)
    return lax.stop_gradient(jnp.array(data, dtype))


class ArrayType:
    """torch.FloatTensor and its like as a value: makes zeros of the sizes, or an array of the list, that it is given."""

    def __init__(self, kind):
        self.kind = kind

    @property
    def dtype(self):
        """What JAX takes for a dtype: the array type itself can be passed to ``astype``."""
        return jnp.zeros((), self.kind).dtype

    def __call__(self, *data):
        if len(data) == 1 and not isinstance(data[0], int):
            return legacy_tensor(data[0], self.kind)
        return jnp.zeros(data, self.kind)


@rule("torch.Tensor")
def tensor_of_zeros(*size: int | Size):
    if not size:
        return jnp.zeros(0)
    return jnp.zeros(size)


@rule("torch.Tensor")
def tensor_of_size(*, size: tuple | list | Size):
    return jnp.zeros(size)


@rule("torch.Tensor")
def tensor_of(data):
    if isinstance(data, int):
        return jnp.zeros(data)
    if isinstance(data, (tuple, list)):
        return lax.stop_gradient(jnp.array(data, dtype=float))
    return legacy_tensor(data, float)


@rule("torch.FloatTensor", "torch.cuda.FloatTensor")
def float_tensor_zeros(*size: int | Size):
    if not size:
        return jnp.zeros(0, dtype=jnp.float32)
    return jnp.zeros(size, dtype=jnp.float32)


@rule("torch.FloatTensor", "torch.cuda.FloatTensor")
def float_tensor(data):
    if isinstance(data, int):
        return jnp.zeros(data, dtype=jnp.float32)
    if isinstance(data, (tuple, list)):
        return lax.stop_gradient(jnp.array(data, dtype=jnp.float32))
    return legacy_tensor(data, jnp.float32)


@rule("torch.DoubleTensor", "torch.cuda.DoubleTensor")
def double_tensor_zeros(*size: int | Size):
    if not size:
        return jnp.zeros(0, dtype=jnp.float64)
    return jnp.zeros(size, dtype=jnp.float64)


@rule("torch.DoubleTensor", "torch.cuda.DoubleTensor")
def double_tensor(data):
    if isinstance(data, int):
        return jnp.zeros(data, dtype=jnp.float64)
    if isinstance(data, (tuple, list)):
        return lax.stop_gradient(jnp.array(data, dtype=jnp.float64))
    return legacy_tensor(data, jnp.float64)


@rule("torch.HalfTensor", "torch.cuda.HalfTensor")
def half_tensor_zeros(*size: int | Size):
    if not size:
        return jnp.zeros(0, dtype=jnp.float16)
    return jnp.zeros(size, dtype=jnp.float16)


@rule("torch.HalfTensor", "torch.cuda.HalfTensor")
def half_tensor(data):
    if isinstance(data, int):
        return jnp.zeros(data, dtype=jnp.float16)
    if isinstance(data, (tuple, list)):
        return lax.stop_gradient(jnp.array(data, dtype=jnp.float16))
    return legacy_tensor(data, jnp.float16)


@rule("torch.BFloat16Tensor", "torch.cuda.BFloat16Tensor")
def bfloat16_tensor_zeros(*size: int | Size):
    if not size:
        return jnp.zeros(0, dtype=jnp.bfloat16)
    return jnp.zeros(size, dtype=jnp.bfloat16)


@rule("torch.BFloat16Tensor", "torch.cuda.BFloat16Tensor")
def bfloat16_tensor(data):
    if isinstance(data, int):
        return jnp.zeros(data, dtype=jnp.bfloat16)
    if isinstance(data, (tuple, list)):
        return lax.stop_gradient(jnp.array(data, dtype=jnp.bfloat16))
    return legacy_tensor(data, jnp.bfloat16)


@rule("torch.LongTensor", "torch.cuda.LongTensor")
def long_tensor_zeros(*size: int | Size):
    if not size:
        return jnp.zeros(0, dtype=int)
    return jnp.zeros(size, dtype=int)


@rule("torch.LongTensor", "torch.cuda.LongTensor")
def long_tensor(data):
    if isinstance(data, int):
        return jnp.zeros(data, dtype=int)
    if isinstance(data, (tuple, list)):
        return lax.stop_gradient(jnp.array(data, dtype=int))
    return legacy_tensor(data, int)


@rule("torch.IntTensor", "torch.cuda.IntTensor")
def int_tensor_zeros(*size: int | Size):
    if not size:
        return jnp.zeros(0, dtype=jnp.int32)
    return jnp.zeros(size, dtype=jnp.int32)


@rule("torch.IntTensor", "torch.cuda.IntTensor")
def int_tensor(data):
    if isinstance(data, int):
        return jnp.zeros(data, dtype=jnp.int32)
    if isinstance(data, (tuple, list)):
        return lax.stop_gradient(jnp.array(data, dtype=jnp.int32))
    return legacy_tensor(data, jnp.int32)


@rule("torch.ShortTensor", "torch.cuda.ShortTensor")
def short_tensor_zeros(*size: int | Size):
    if not size:
        return jnp.zeros(0, dtype=jnp.int16)
    return jnp.zeros(size, dtype=jnp.int16)


@rule("torch.ShortTensor", "torch.cuda.ShortTensor")
def short_tensor(data):
    if isinstance(data, int):
        return jnp.zeros(data, dtype=jnp.int16)
    if isinstance(data, (tuple, list)):
        return lax.stop_gradient(jnp.array(data, dtype=jnp.int16))
    return legacy_tensor(data, jnp.int16)


@rule("torch.CharTensor", "torch.cuda.CharTensor")
def char_tensor_zeros(*size: int | Size):
    if not size:
        return jnp.zeros(0, dtype=jnp.int8)
    return jnp.zeros(size, dtype=jnp.int8)


@rule("torch.CharTensor", "torch.cuda.CharTensor")
def char_tensor(data):
    if isinstance(data, int):
        return jnp.zeros(data, dtype=jnp.int8)
    if isinstance(data, (tuple, list)):
        return lax.stop_gradient(jnp.array(data, dtype=jnp.int8))
    return legacy_tensor(data, jnp.int8)


@rule("torch.ByteTensor", "torch.cuda.ByteTensor")
def byte_tensor_zeros(*size: int | Size):
    if not size:
        return jnp.zeros(0, dtype=jnp.uint8)
    return jnp.zeros(size, dtype=jnp.uint8)


@rule("torch.ByteTensor", "torch.cuda.ByteTensor")
def byte_tensor(data):
    if isinstance(data, int):
        return jnp.zeros(data, dtype=jnp.uint8)
    if isinstance(data, (tuple, list)):
        return lax.stop_gradient(jnp.array(data, dtype=jnp.uint8))
    return legacy_tensor(data, jnp.uint8)


@rule("torch.BoolTensor", "torch.cuda.BoolTensor")
def bool_tensor_zeros(*size: int | Size):
    if not size:
        return jnp.zeros(0, dtype=bool)
    return jnp.zeros(size, dtype=bool)


@rule("torch.BoolTensor", "torch.cuda.BoolTensor")
def bool_tensor(data):
    if isinstance(data, int):
        return jnp.zeros(data, dtype=bool)
    if isinstance(data, (tuple, list)):
        return lax.stop_gradient(jnp.array(data, dtype=bool))
    return legacy_tensor(data, bool)


@rule("torch.Tensor.new")
def new_sizes(input, *size: int | Size):
    if not size:
        return jnp.zeros(0, dtype=input.dtype)
    return jnp.zeros(size, dtype=input.dtype)


@rule("torch.Tensor.new")
def new_matrix(input, rows, columns):
    return jnp.zeros((rows, columns), dtype=input.dtype)


@rule("torch.Tensor.new")
def new_of_three(input, depth, rows, columns):
    return jnp.zeros((depth, rows, columns), dtype=input.dtype)


@rule("torch.Tensor.new")
def new_of_four(input, batch, channels, height, width):
    return jnp.zeros((batch, channels, height, width), dtype=input.dtype)


@rule("torch.Tensor.new")
def new(input, data):
    if isinstance(data, int):
        return jnp.zeros(data, dtype=input.dtype)
    if isinstance(data, (tuple, list)):
        return lax.stop_gradient(jnp.array(data, dtype=input.dtype))
    return legacy_tensor(data, input.dtype)


def unplaced(arguments):
    """Arguments for a constructor, without torch's device, and without a dtype that is None."""
    return {k: v for k, v in arguments.items() if k != "device" and (k, v) != ("dtype", None)}
