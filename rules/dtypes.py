"""Conversions between dtypes, devices and kinds of tensor."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from transpile.rule import Device, Dtype, Tensor, Unsupported, known, outside_bytes, rule


@rule("torch.Tensor.to")
def to_device(input, device: Device = None, *, copy=False):
    return input


@rule("torch.Tensor.to")
def to_dtype(input, dtype: Dtype, *, copy=False):
    if known(dtype == jnp.uint8) and known(outside_bytes(input)):  # torch wraps, JAX saturates
        return input.astype(int).astype(jnp.uint8)
    return input.astype(dtype)


@rule("torch.Tensor.to")
def to_like(input, other: Tensor, non_blocking=False, copy=False):
    return input.astype(other.dtype)


@rule("torch.Tensor.to")
def to_device_dtype(input, device: Device, dtype: Dtype, non_blocking=False, copy=False):
    if known(dtype == jnp.uint8) and known(outside_bytes(input)):
        return input.astype(int).astype(jnp.uint8)
    return input.astype(dtype)


@rule("torch.Tensor.to")
def to_device_soon(input, device: Device, non_blocking: bool, copy=False):
    return input


@rule("torch.Tensor.to")
def to_dtype_soon(input, dtype: Dtype, non_blocking: bool, copy=False):
    return input.astype(dtype)


@rule("torch.Tensor.to")
def to(input, other, non_blocking=False, copy=False):
    """For an argument that only the run tells: a tensor or a dtype casts, a device changes nothing."""
    if isinstance(other, jax.Array | np.ndarray):
        return input.astype(other.dtype)
    if isinstance(other, type | np.dtype):
        return input.astype(other)
    return input


@rule("torch.Tensor.to[optional]")
def to_optional_dtype(input, dtype: Dtype, non_blocking=False, copy=False):
    return input if dtype is None else input.astype(dtype)


@rule("torch.Tensor.to[spread]")
def to_told(input, *, dtype=None, copy=False):
    """For `x.to(**kw)`."""
    return input if dtype is None else input.astype(dtype)


@rule("torch.Tensor.to[optional]")
def to_device_optional_dtype(input, device: Device, dtype: Dtype, non_blocking=False, copy=False):
    return input if dtype is None else input.astype(dtype)


@rule("torch.Tensor.float")
def to_float(input):
    return input.astype(jnp.float32)


@rule("torch.Tensor.double")
def to_double(input):
    return input.astype(jnp.float64)


@rule("torch.Tensor.half")
def to_half(input):
    return input.astype(jnp.float16)


@rule("torch.Tensor.bfloat16")
def to_bfloat16(input):
    return input.astype(jnp.bfloat16)


@rule("torch.Tensor.long")
def to_long(input):
    return input.astype(int)


@rule("torch.Tensor.int")
def to_int(input):
    return input.astype(jnp.int32)


@rule("torch.Tensor.short")
def to_short(input):
    return input.astype(jnp.int16)


@rule("torch.Tensor.char")
def to_char(input):
    return input.astype(jnp.int8)


@rule("torch.Tensor.byte")
def to_byte(input):
    if known(outside_bytes(input)):
        return input.astype(int).astype(jnp.uint8)
    return input.astype(jnp.uint8)


@rule("torch.Tensor.bool")
def to_bool(input):
    return input.astype(bool)


@rule("torch.Tensor.cfloat")
def to_cfloat(input):
    return input.astype(jnp.complex64)


@rule("torch.Tensor.cdouble")
def to_cdouble(input):
    return input.astype(jnp.complex128)


@rule("torch.Tensor.chalf")
def to_chalf(input):
    raise Unsupported("JAX has no complex numbers of half precision: use .cfloat()")


@rule("torch.Tensor.type")
def type_(input, dtype):
    if dtype in ("torch.FloatTensor", "torch.cuda.FloatTensor"):
        return input.astype(jnp.float32)
    if dtype in ("torch.DoubleTensor", "torch.cuda.DoubleTensor"):
        return input.astype(jnp.float64)
    if dtype in ("torch.HalfTensor", "torch.cuda.HalfTensor"):
        return input.astype(jnp.float16)
    if dtype in ("torch.LongTensor", "torch.cuda.LongTensor"):
        return input.astype(int)
    if dtype in ("torch.IntTensor", "torch.cuda.IntTensor"):
        return input.astype(jnp.int32)
    if dtype in ("torch.ByteTensor", "torch.cuda.ByteTensor"):
        if known(outside_bytes(input)):
            return input.astype(int).astype(jnp.uint8)
        return input.astype(jnp.uint8)
    if dtype in ("torch.BoolTensor", "torch.cuda.BoolTensor"):
        return input.astype(bool)
    if known(dtype == jnp.uint8) and known(outside_bytes(input)):
        return input.astype(int).astype(jnp.uint8)
    return input.astype(dtype)


@rule("torch.Tensor.type")
def type_name(input):
    return input.dtype  # torch's is a name: comparing it with one raises, comparing two agrees


@rule("torch.Tensor.type_as")
def type_as(input, other):
    return input.astype(other.dtype)


@rule("torch.Tensor.cuda", "torch.Tensor.cpu", "torch.Tensor.pin_memory", "torch.Tensor.share_memory_")
def cuda(input, device=None):
    return input


@rule("torch.clone", "torch.Tensor.clone", "torch.Tensor.contiguous", "torch.alias_copy")
def clone(input):
    return input


@rule("torch.nn.Parameter[traced]")
def parameter_of_a_call(data, requires_grad=True):
    return lax.stop_gradient(data)  # a leaf of its own, made anew in each call: no optimizer knows it


@rule("torch.detach[compared]", "torch.Tensor.detach[compared]")
def already_detached(input):
    return input


@rule("torch.detach", "torch.detach_copy", "torch.Tensor.detach", "torch.Tensor.data")
def detach(input):
    return lax.stop_gradient(input)


@rule("torch.Tensor.requires_grad_")
def requires_grad_(input, requires_grad=True):
    if requires_grad:
        return input
    return lax.stop_gradient(input)


@rule("torch.Tensor.retain_grad")
def retain_grad(input):
    return input


@rule("torch.Tensor.tolist[traced]")
def tolist(input):
    """The elements in lists of lists; under jit arrays of no dimensions stand for the numbers, without gradient as numbers have none."""
    if not isinstance(input, jax.core.Tracer):
        return input.tolist()
    return [tolist(row) for row in input] if input.ndim else lax.stop_gradient(input)


@rule("torch.Tensor.numpy")
def numpy_(input, *, force=False):
    return np.asarray(input)


@rule("torch.Tensor.numpy[written]")
def numpy_to_write(input, *, force=False):
    return np.array(input)  # what np.asarray makes of JAX's arrays cannot be written


@rule("torch.Tensor.numpy[traced]")
def numpy_under_jit(input, *, force=False):
    return input


@rule("torch.Tensor.item")
def item(input):
    return input.item()


@rule("torch.Tensor.item[traced]")
def item_under_jit(input):
    """Under jit there is no Python number: an array of no dimensions, without gradient as a number has none."""
    return lax.stop_gradient(input).reshape(())


@rule("torch.Tensor.tolist")
def tolist_of_numbers(input):
    return input.tolist()


@rule("torch.is_nonzero", "torch.Tensor.is_nonzero")
def is_nonzero(input):
    return (input != 0).reshape(())


@rule("torch.Tensor.dtype")
def dtype_(input):
    return input.dtype


@rule("torch.is_tensor")
def is_tensor(obj):
    return isinstance(obj, jax.Array)


@rule("torch.is_floating_point", "torch.Tensor.is_floating_point")
def is_floating_point(input):
    return jnp.issubdtype(input.dtype, jnp.floating)


@rule("torch.dtype.is_floating_point")
def is_floating_dtype(input):
    return jnp.issubdtype(input, jnp.floating)


@rule("torch.dtype.is_complex")
def is_complex_dtype(input):
    return jnp.issubdtype(input, jnp.complexfloating)


@rule("torch.is_complex", "torch.Tensor.is_complex")
def is_complex(input):
    return jnp.iscomplexobj(input)


@rule("torch.is_signed", "torch.Tensor.is_signed")
def is_signed(input):
    return not jnp.issubdtype(input.dtype, jnp.unsignedinteger) and input.dtype != bool


@rule("torch.Tensor.element_size", "torch.Tensor.itemsize")
def element_size(input):
    return input.dtype.itemsize


@rule("torch.Tensor.nbytes")
def nbytes(input):
    return input.nbytes


@rule("torch.finfo")
def finfo(type=float):
    return jnp.finfo(type)


@rule("torch.iinfo")
def iinfo(type):
    return jnp.iinfo(type)


@rule("torch.result_type")
def result_type(tensor1, tensor2):
    return jnp.result_type(tensor1, tensor2)


@rule("torch.promote_types")
def promote_types(type1, type2):
    return jnp.promote_types(type1, type2)


@rule("torch.can_cast")
def can_cast(from_, to):
    """Whether torch converts between these dtypes without being told: bool, int, float, complex, upwards only."""
    kinds = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)
    lower = [i for i, kind in enumerate(kinds) if jnp.issubdtype(from_, kind)]
    upper = [i for i, kind in enumerate(kinds) if jnp.issubdtype(to, kind)]
    return lower <= upper


@rule("torch.get_default_dtype")
def get_default_dtype():
    return jnp.result_type(float)


@rule("torch.set_default_dtype", "torch.set_default_tensor_type")
def set_default_dtype(d):
    raise Unsupported(
        "JAX has no default dtype to set: for float64 set jax_enable_x64, else give dtypes where they matter"
    )
