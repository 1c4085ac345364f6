"""Norms of matrices."""

import jax.numpy as jnp

from transpile.rule import known, rule

from .norms import vector_norm


@rule("torch.linalg.norm")
def linalg_norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    if ord is None:
        return vector_norm(A, dim=dim, keepdim=keepdim, dtype=dtype)
    if isinstance(dim, int):
        return vector_norm(A, ord, dim=dim, keepdim=keepdim, dtype=dtype)
    return matrix_or_vector_norm(A, ord, dim, keepdim, dtype)


@rule("torch.linalg.norm[compared]", "torch.linalg.norm[dividing]")
def linalg_norm_without_gradient(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    if ord is None and dtype is None and (dim is None or isinstance(dim, int)):
        if not known(jnp.finfo(A.dtype).bits == 16):
            return jnp.linalg.norm(A, axis=dim, keepdims=keepdim)
    return linalg_norm(A, ord, dim, keepdim, dtype=dtype)


def matrix_or_vector_norm(A, ord, dim=None, keepdim=False, dtype=None):
    """The vector norm over one axis, the matrix norm over two; None means all the axes there are."""
    axes = tuple(range(A.ndim)) if dim is None else tuple(dim)
    if len(axes) == 1:
        return vector_norm(A, ord, dim=axes, keepdim=keepdim, dtype=dtype)
    return matrix_norm(A, ord, axes, keepdim, dtype=dtype)


@rule("torch.linalg.matrix_norm")
def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """The norm of the matrices in the axes ``dim``; the gradient of the Frobenius norm is 0, not NaN, at 0."""
    if ord == "fro":
        return vector_norm(A, dim=tuple(dim), keepdim=keepdim, dtype=dtype)
    A = A if dtype is None else A.astype(dtype)
    if ord in ("nuc", 2, -2):
        values = jnp.linalg.svdvals(jnp.moveaxis(A, dim, (-2, -1)))
        norm = values.sum(axis=-1, keepdims=True) if ord == "nuc" else _extreme(values, ord, -1)
        norm = jnp.moveaxis(norm[..., None], (-2, -1), dim)
    else:
        along, across = dim if abs(ord) == 1 else reversed(dim)  # 1: sums down the columns, inf: along the rows
        norm = _extreme(vector_norm(A, 1, dim=along, keepdim=True), ord, across)
    return norm if keepdim else norm.squeeze(tuple(dim))


def _extreme(values, ord, axis):
    """The largest (of none: 0) for a positive order, the smallest for a negative one."""
    if ord < 0:
        return values.min(axis=axis, keepdims=True)
    return values.max(axis=axis, keepdims=True, initial=None if values.shape[axis] else 0)
