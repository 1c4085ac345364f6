"""Vector norms, with torch's gradient where the norm is 0."""

import math

import jax.numpy as jnp

from transpile.rule import known, rule


@rule("torch.linalg.vector_norm")
def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The norm of the vectors along ``dim`` (of all elements if None); where it is 0 its gradient is 0, not NaN."""
    x = x if dtype is None else x.astype(dtype)
    axis = (tuple(dim) or None) if isinstance(dim, (tuple, list)) else dim
    if x.ndim == 0:
        axis = None  # torch accepts 0 and -1 here
    result = jnp.abs(x[:0]).dtype if x.ndim else jnp.abs(x).dtype
    if jnp.finfo(x.dtype).bits == 16:
        x = x.astype(jnp.float32)
    present = x != 0
    length = jnp.where(present, jnp.abs(jnp.where(present, x, 1)), 0)
    if ord == 0:
        total = present.sum(axis=axis, keepdims=keepdim)
    elif ord == 1:
        total = length.sum(axis=axis, keepdims=keepdim)
    elif ord == math.inf:
        total = length.max(axis=axis, keepdims=keepdim, initial=0)
    elif ord == -math.inf:
        total = length.min(axis=axis, keepdims=keepdim)
    else:
        total = _root(_power(length, ord).sum(axis=axis, keepdims=keepdim), ord)
    return total.astype(result)


def _power(length, p):
    """``length ** p`` for ``length >= 0``, flat at 0."""
    zero, base = 0.0 if p > 0 else math.inf, jnp.where(length > 0, length, 1)
    power = base * base if p == 2 else base**p  # 2 * base, of the derivative of a power, is inf where base is 1e308
    return jnp.where(length > 0, power, jnp.where(jnp.isnan(length), length, zero))


def _root(total, p):
    """``total ** (1 / p)``, flat where the result is 0."""
    flat = (total == 0) | jnp.isinf(total)
    steep = jnp.where(flat, 1, total)
    root = jnp.sqrt(steep) if p == 2 else steep ** (1 / p)
    return jnp.where(flat, total if p > 0 else 1 / total, root)


@rule("torch.norm", "torch.Tensor.norm", "torch.functional.norm")
def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    if isinstance(p, float):  # no word
        return vector_norm(input, p, dim=dim, keepdim=keepdim, dtype=dtype)
    if p in ("fro", 2, None):
        return vector_norm(input, dim=dim, keepdim=keepdim, dtype=dtype)
    if p == "nuc":
        return nuclear_norm(input, dim, keepdim, dtype)
    return vector_norm(input, p, dim=dim, keepdim=keepdim, dtype=dtype)


@rule("torch.norm[dividing]", "torch.Tensor.norm[dividing]")
def norm_of_divided(input, p="fro", dim=None, keepdim=False, dtype=None):
    if isinstance(p, float):  # no word
        return vector_norm(input, p, dim=dim, keepdim=keepdim, dtype=dtype)
    if p in ("fro", 2, None) and dtype is None and (dim is None or isinstance(dim, int)):
        if not known(jnp.finfo(input.dtype).bits == 16):  # jnp squares in float16, where 300 has no square
            return jnp.linalg.norm(input, axis=dim, keepdims=keepdim)
    if p in ("fro", 2, None):
        return vector_norm(input, dim=dim, keepdim=keepdim, dtype=dtype)
    if p == "nuc":
        return nuclear_norm(input, dim, keepdim, dtype)
    return vector_norm(input, p, dim=dim, keepdim=keepdim, dtype=dtype)


@rule("torch.norm[compared]", "torch.Tensor.norm[compared]")
def norm_without_gradient(input, p="fro", dim=None, keepdim=False, dtype=None):
    if dtype is None and not known(jnp.finfo(input.dtype).bits == 16):  # as above
        if known(p in ("fro", 2, None)) and (dim is None or isinstance(dim, int)):
            return jnp.linalg.norm(input, axis=dim, keepdims=keepdim)
        if isinstance(p, (int, float)) and not known(p == 2) and dim is None and not keepdim:
            return jnp.linalg.norm(input.ravel(), ord=p)
        if isinstance(p, (int, float)) and isinstance(dim, int) and known(input.ndim > 0):
            return jnp.linalg.norm(input, ord=p, axis=dim, keepdims=keepdim)
    if p in ("fro", 2, None):
        return vector_norm(input, dim=dim, keepdim=keepdim, dtype=dtype)
    if p == "nuc":
        return nuclear_norm(input, dim, keepdim, dtype)
    return vector_norm(input, p, dim=dim, keepdim=keepdim, dtype=dtype)


def nuclear_norm(input, dim=None, keepdim=False, dtype=None):
    """The sum of the singular values of the matrices in the two dims."""
    x = input if dtype is None else input.astype(dtype)
    return jnp.linalg.norm(x, "nuc", axis=None if dim is None else tuple(dim), keepdims=keepdim)


@rule("torch.dist", "torch.Tensor.dist")
def dist(input, other, p=2):
    if p == 2:
        return vector_norm(input - other)
    return vector_norm(input - other, p)


@rule("torch.renorm", "torch.Tensor.renorm")
def renorm(input, p, dim, maxnorm):
    """The slices along ``dim``, those of norm above ``maxnorm`` scaled down to it."""
    others = tuple(d for d in range(input.ndim) if d != dim % input.ndim)
    length = vector_norm(input, p, dim=others, keepdim=True)
    return input * jnp.where(length > maxnorm, maxnorm / (length + 1e-7), 1).astype(input.dtype)
