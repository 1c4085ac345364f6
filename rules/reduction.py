"""Sums, means, products and logical reductions over dims."""

import jax
import jax.numpy as jnp

from transpile.rule import known, rule

# `dim=()` and `dim=[]` reduce every dim in torch and none in JAX, hence the first branches of most rules here.
# A 0-dim tensor has dims 0 and -1 in torch and none in JAX, which raises: only the rarer rules here allow for it, where the
# source does not tell that there is a dim.


def reduced_axes(input, dim):
    """A dim or several as JAX's axis: None for no dims, which torch takes for all, and for a 0-dim array."""
    if input.ndim == 0:
        return None
    return tuple(dim) or None if isinstance(dim, (tuple, list)) else dim


def reduced(function, input, dim, keepdim=False):
    """A reduction over dims, of which a 0-dim array has 0 and -1 in torch."""
    return function(input, axis=reduced_axes(input, dim), keepdims=keepdim)


@rule("torch.sum", "torch.Tensor.sum")
def sum_(input, dim=None, keepdim=False, *, dtype=None):
    if known(isinstance(dim, tuple)) and not known(jnp.issubdtype(input.dtype, jnp.unsignedinteger)):
        return input.sum(axis=dim or None, keepdims=keepdim, dtype=dtype)
    if isinstance(dim, (tuple, list)) and not dim:
        return input.sum(keepdims=keepdim, dtype=dtype)
    if dtype is None and known(jnp.issubdtype(input.dtype, jnp.unsignedinteger)):
        return input.sum(axis=dim, keepdims=keepdim, dtype=int)  # of bytes, too, torch's are signed
    return input.sum(axis=dim, keepdims=keepdim, dtype=dtype)


@rule("torch.mean", "torch.Tensor.mean")
def mean(input, dim=None, keepdim=False, *, dtype=None):
    if known(isinstance(dim, tuple)):
        return input.mean(axis=dim or None, keepdims=keepdim, dtype=dtype)
    if isinstance(dim, list) and not dim:
        return input.mean(keepdims=keepdim, dtype=dtype)
    return input.mean(axis=dim, keepdims=keepdim, dtype=dtype)


@rule("torch.prod", "torch.Tensor.prod")
def prod(input, dim=None, keepdim=False, *, dtype=None):
    if known(dim in (0, -1)) and dtype is None and not known(input.ndim > 0):
        return reduced(jnp.prod, input, dim, keepdim=keepdim)
    if dtype is None and known(jnp.issubdtype(input.dtype, jnp.unsignedinteger)):
        return input.prod(axis=dim, keepdims=keepdim, dtype=int)
    return input.prod(axis=dim, keepdims=keepdim, dtype=dtype)


@rule("torch.all", "torch.Tensor.all")
def all_(input, dim=None, keepdim=False):
    if known(isinstance(dim, tuple)) and not known(dim in ((0,), (-1,))):
        return input.all(axis=dim or None, keepdims=keepdim)
    if isinstance(dim, (tuple, list)) and not dim:
        return input.all(keepdims=keepdim)
    if known(dim in (0, -1, (0,), (-1,))) and not known(input.ndim > 0):
        return reduced(jnp.all, input, dim, keepdim=keepdim)
    return input.all(axis=dim, keepdims=keepdim)


@rule("torch.any", "torch.Tensor.any")
def any_(input, dim=None, keepdim=False):
    if known(isinstance(dim, tuple)) and not known(dim in ((0,), (-1,))):
        return input.any(axis=dim or None, keepdims=keepdim)
    if isinstance(dim, (tuple, list)) and not dim:
        return input.any(keepdims=keepdim)
    if known(dim in (0, -1, (0,), (-1,))) and not known(input.ndim > 0):
        return reduced(jnp.any, input, dim, keepdim=keepdim)
    return input.any(axis=dim, keepdims=keepdim)


@rule("torch.var", "torch.Tensor.var")
def var(input, dim: int | tuple | None = None, unbiased=True, keepdim=False, *, correction=None):
    if known(isinstance(dim, tuple)) and correction is None:
        if unbiased:
            return input.var(axis=dim or None, ddof=1, keepdims=keepdim)
        return input.var(axis=dim or None, keepdims=keepdim)
    if isinstance(dim, (tuple, list)) and not dim:
        return var(input, None, unbiased, keepdim, correction=correction)
    if correction is not None:
        return input.var(axis=dim, ddof=correction, keepdims=keepdim)
    if unbiased:
        return input.var(axis=dim, ddof=1, keepdims=keepdim)
    return input.var(axis=dim, keepdims=keepdim)


@rule("torch.var", "torch.Tensor.var")
def var_all(input, unbiased: bool):
    if unbiased:
        return input.var(ddof=1)
    return input.var()


@rule("torch.std", "torch.Tensor.std")
def std(input, dim: int | tuple | None = None, unbiased=True, keepdim=False, *, correction=None):
    """The root of the variance; where that is 0 its gradient is 0, not NaN."""
    wide = input.astype(jnp.promote_types(input.dtype, jnp.float32))  # 300 has no square in float16
    variance = var(wide, dim, unbiased, keepdim, correction=correction)
    flat = variance == 0
    root = jnp.where(flat, 0, jnp.sqrt(jnp.where(flat, 1, variance)))
    return root.astype(jnp.finfo(input.dtype).dtype)


@rule("torch.std", "torch.Tensor.std")
def std_all(input, unbiased: bool):
    return std(input, unbiased=unbiased)


@rule("torch.std[compared]", "torch.Tensor.std[compared]")
def std_without_gradient(
    input, dim: int | tuple | None = None, unbiased=True, keepdim=False, *, correction=None
):
    if isinstance(dim, (tuple, list)) and not dim:
        return std(input, None, unbiased, keepdim, correction=correction)
    if known(jnp.finfo(input.dtype).bits == 16):  # whose variance torch does not round
        return std(input, dim, unbiased, keepdim, correction=correction)
    if correction is not None:
        return input.std(axis=dim, ddof=correction, keepdims=keepdim)
    if unbiased:
        return input.std(axis=dim, ddof=1, keepdims=keepdim)
    return input.std(axis=dim, keepdims=keepdim)


@rule("torch.std[compared]", "torch.Tensor.std[compared]")
def std_all_without_gradient(input, unbiased: bool):
    return std_without_gradient(input, unbiased=unbiased)


@rule("torch.var_mean")
def var_mean(input, dim: int | tuple | None = None, unbiased=True, keepdim=False, *, correction=None):
    return var(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


@rule("torch.var_mean")
def var_mean_all(input, unbiased: bool):
    return var_mean(input, unbiased=unbiased)


@rule("torch.std_mean")
def std_mean(input, dim: int | tuple | None = None, unbiased=True, keepdim=False, *, correction=None):
    return std(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


@rule("torch.std_mean")
def std_mean_all(input, unbiased: bool):
    return std_mean(input, unbiased=unbiased)


@rule("torch.logsumexp", "torch.Tensor.logsumexp", "torch.special.logsumexp")
def logsumexp(input, dim, keepdim=False):
    if isinstance(dim, (tuple, list)) and not dim:
        return jax.nn.logsumexp(input, keepdims=keepdim)
    if known(dim in ((0,), (-1,))) and not known(input.ndim > 0):
        return reduced(jax.nn.logsumexp, input, dim, keepdim=keepdim)
    return jax.nn.logsumexp(input, axis=dim, keepdims=keepdim)


@rule("torch.nansum", "torch.Tensor.nansum")
def nansum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum of the elements that are not NaN."""
    if dim is None or isinstance(dim, int) and dim not in (0, -1):
        return jnp.nansum(input, axis=dim, keepdims=keepdim, dtype=dtype)
    axes = reduced_axes(input, dim)
    return jnp.nansum(input, axis=axes, keepdims=keepdim, dtype=dtype)


@rule("torch.nanmean", "torch.Tensor.nanmean")
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean of the elements that are not NaN."""
    if dim is None or isinstance(dim, int) and dim not in (0, -1):
        return jnp.nanmean(input, axis=dim, keepdims=keepdim, dtype=dtype)
    axes = reduced_axes(input, dim)
    return jnp.nanmean(input, axis=axes, keepdims=keepdim, dtype=dtype)


@rule("torch.count_nonzero", "torch.Tensor.count_nonzero")
def count_nonzero(input, dim=None):
    """How many elements are not 0."""
    if dim is None or isinstance(dim, int) and dim not in (0, -1):
        return jnp.count_nonzero(input, axis=dim)
    axes = reduced_axes(input, dim)
    return jnp.count_nonzero(input, axis=axes)


@rule("torch.trace", "torch.Tensor.trace")
def trace(input):
    return jnp.trace(input)


@rule("torch.cov", "torch.Tensor.cov")
def cov(input, *, correction=1, fweights=None, aweights=None):
    if fweights is None and aweights is None and correction == 1:
        return jnp.cov(input)
    if fweights is None and aweights is None:
        return jnp.cov(input, ddof=correction)
    return weighted_cov(input, correction, fweights, aweights)


def weighted_cov(input, correction, fweights, aweights):
    """The covariance of the rows, each column counted ``fweights`` times and weighted by ``aweights``."""
    x = jnp.atleast_2d(input)
    w = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    total = w.sum()
    lost = correction if aweights is None or correction == 0 else correction * (w * aweights).sum() / total
    centred = x - (x * w).sum(axis=1, keepdims=True) / total
    return (centred @ (centred * w).T.conj() / (total - lost)).squeeze()


@rule("torch.corrcoef", "torch.Tensor.corrcoef")
def corrcoef(input):
    return jnp.corrcoef(input)
