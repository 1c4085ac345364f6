"""torch.masked: reductions over the elements where the mask is True."""

import jax
import jax.numpy as jnp

from transpile.rule import rule

from .extrema import highest, lowest
from .norms import vector_norm
from .reduction import reduced_axes
from .sorting import nanmedian, nanmedian_dim


def kept(input, mask, other, dtype=None):
    """``input`` as ``dtype``, with ``other`` where the mask is False."""
    input = input if dtype is None else input.astype(dtype)
    return input if mask is None else jnp.where(mask, input, jnp.asarray(other, input.dtype))


@rule("torch.masked.sum")
def masked_sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return jnp.sum(input, axis=reduced_axes(input, dim), keepdims=keepdim, dtype=dtype, where=mask)


@rule("torch.masked.prod")
def masked_prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return jnp.prod(input, axis=reduced_axes(input, dim), keepdims=keepdim, dtype=dtype, where=mask)


@rule("torch.masked.mean")
def masked_mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return jnp.mean(input, axis=reduced_axes(input, dim), keepdims=keepdim, dtype=dtype, where=mask)


@rule("torch.masked.var")
def masked_var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance of the kept elements along ``dim``."""
    lost = int(unbiased) if unbiased is not None else 1 if correction is None else correction
    x = kept(input, None, 0, dtype)
    return jnp.var(x, axis=reduced_axes(input, dim), ddof=lost, keepdims=keepdim, where=mask)


@rule("torch.masked.std")
def masked_std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The standard deviation of the kept elements along ``dim``, its gradient 0 where it is 0."""
    variance = masked_var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask)
    flat = variance == 0
    return jnp.where(flat, 0, jnp.sqrt(jnp.where(flat, 1, variance)))


@rule("torch.masked.amax")
def masked_amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The largest kept element along ``dim``, the lowest of its dtype if there is none."""
    return kept(input, mask, lowest(dtype or input.dtype), dtype).max(axis=reduced_axes(input, dim), keepdims=keepdim)


@rule("torch.masked.amin")
def masked_amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The smallest kept element along ``dim``, the highest of its dtype if there is none."""
    return kept(input, mask, highest(dtype or input.dtype), dtype).min(axis=reduced_axes(input, dim), keepdims=keepdim)


@rule("torch.masked.argmax")
def masked_argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The place of the largest kept element, as a number of the input's own dtype (or of ``dtype``)."""
    x = kept(input, mask, lowest(dtype or input.dtype), dtype)
    return x.argmax(axis=dim if x.ndim else None, keepdims=keepdim).astype(x.dtype)


@rule("torch.masked.argmin")
def masked_argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The place of the smallest kept element, as a number of the input's own dtype (or of ``dtype``)."""
    x = kept(input, mask, highest(dtype or input.dtype), dtype)
    return x.argmin(axis=dim if x.ndim else None, keepdims=keepdim).astype(x.dtype)


@rule("torch.masked.median")
def masked_median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The lower middle one of the kept elements along ``dim``."""
    x = kept(input, mask, jnp.nan, dtype)
    return nanmedian(x) if dim is None else nanmedian_dim(x, dim, keepdim).values


@rule("torch.masked.logsumexp")
def masked_logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """log(sum(exp(input))) over the kept elements along ``dim``."""
    x = kept(input, None, 0, dtype)
    return jax.nn.logsumexp(x, axis=reduced_axes(input, dim), keepdims=keepdim, where=mask)


@rule("torch.masked.norm")
def masked_norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The vector norm of the kept elements along ``dim``."""
    neutral = jnp.inf if ord < 0 else 0
    return vector_norm(kept(input, mask, neutral, dtype), ord, dim, keepdim)


@rule("torch.masked.normalize")
def masked_normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """``input`` divided by the norm of its kept elements along ``dim``, 0 where the mask is False."""
    x = kept(input, mask, 0, dtype)
    return x / jnp.maximum(masked_norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask), eps)


@rule("torch.masked.softmax")
def masked_softmax(input, dim, *, dtype=None, mask=None):
    """Softmax of the kept elements along ``dim``, 0 for the others."""
    return jax.nn.softmax(kept(input, mask, -jnp.inf, dtype), axis=dim if input.ndim else ())


@rule("torch.masked.log_softmax")
def masked_log_softmax(input, dim, *, dtype=None, mask=None):
    """Log softmax of the kept elements along ``dim``, -inf for the others."""
    return jax.nn.log_softmax(kept(input, mask, -jnp.inf, dtype), axis=dim if input.ndim else ())


@rule("torch.masked.softmin")
def masked_softmin(input, dim, *, dtype=None, mask=None):
    """Softmax of the kept elements' negatives along ``dim``, 0 for the others."""
    return jax.nn.softmax(-kept(input, mask, jnp.inf, dtype), axis=dim if input.ndim else ())


@rule("torch.masked.cumsum")
def masked_cumsum(input, dim, *, dtype=None, mask=None):
    """The running sum of the kept elements along ``dim``."""
    x = kept(input, mask, 0, dtype)
    return jnp.cumulative_sum(jnp.atleast_1d(x), axis=dim).reshape(x.shape)


@rule("torch.masked.cumprod")
def masked_cumprod(input, dim, *, dtype=None, mask=None):
    """The running product of the kept elements along ``dim``."""
    x = kept(input, mask, 1, dtype)
    return jnp.cumulative_prod(jnp.atleast_1d(x), axis=dim).reshape(x.shape)


@rule("torch.masked.logaddexp")
def masked_logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    return jnp.logaddexp(kept(input, input_mask, -jnp.inf, dtype), kept(other, other_mask, -jnp.inf, dtype))
