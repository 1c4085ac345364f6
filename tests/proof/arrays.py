"""torch's tensors as JAX's arrays and as NumPy's, and the leaves of what functions return."""

import contextlib
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch


def to_jax(value: Any) -> Any:
    """An argument of torch's as JAX's, of any shape: tensors, dtypes and sizes, in lists and
    tuples too."""
    if isinstance(value, torch.Tensor):
        return jnp.asarray(to_numpy(value))
    if isinstance(value, torch.dtype):
        return jnp.dtype(str(value).removeprefix("torch."))
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, (list, tuple)):
        return type(value)(to_jax(v) for v in value)
    return value


def to_numpy(tensor: Any) -> Any:
    """A tensor's array, of the same shape; a sparse one in full, bfloat16 as NumPy has it from
    JAX."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.dtype == torch.bfloat16:
        return tensor.float().numpy().astype(jnp.bfloat16)
    return tensor.numpy()


def leaves(value: Any, kinds: Any) -> list[Any]:
    """What stands in lists and tuples, in order: arrays of these kinds, and whatever else is
    there."""
    if not isinstance(value, kinds) and isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in leaves(v, kinds)]
    return [value]


@contextlib.contextmanager
def precision(wide: bool) -> Iterator[None]:
    """Both libraries make float64 and int64 where nothing says what (wide), or float32 and
    int32."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64 if wide else torch.float32)
    try:
        with jax.enable_x64(wide), jax.default_matmul_precision("highest"):
            yield
    finally:
        torch.set_default_dtype(before)


def is_differentiable(tensor: Any) -> bool:
    """Whether a value is a tensor of floats or complex numbers."""
    kinds = isinstance(tensor, torch.Tensor)
    return kinds and (tensor.is_floating_point() or tensor.is_complex())


def has_nan_or_inf(array: Any) -> bool:
    """Whether an array of any dtype and shape holds a number that is not finite."""
    wide = np.asarray(array)
    if wide.dtype.kind not in "fcV":
        return False
    return not bool(np.isfinite(wide.astype(np.float32) if wide.dtype.kind == "V" else wide).all())
