"""Order along a dim: sorting, ranks, quantiles, and search in what is sorted."""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import known, rule

from .extrema import ValuesIndices, _pick, lowest
from .reduction import reduced_axes


@rule("torch.sort", "torch.Tensor.sort")
def sort(input, dim=-1, descending=False, stable=False):
    """The elements in order along a dim, and where each of them was; equals keep their order, NaN counts as largest."""
    if input.ndim == 0:
        return ValuesIndices(input, jnp.zeros((), int))
    indices = jnp.argsort(input, axis=dim, descending=descending)
    return ValuesIndices(jnp.take_along_axis(input, indices, axis=dim), indices)


@rule("torch.sort[0]", "torch.sort.values", "torch.Tensor.sort[0]", "torch.Tensor.sort.values")
def sort_values(input, dim=-1, descending=False, stable=False):
    if dim == -1:
        return jnp.sort(input, descending=descending)
    return jnp.sort(input, axis=dim, descending=descending)


def argsorted(input, dim, descending=False):
    """The indices that sort along a dim, of which a 0-dim array has 0 and -1 in torch."""
    return jnp.argsort(jnp.atleast_1d(input), axis=dim, descending=descending).reshape(input.shape)


@rule("torch.argsort", "torch.Tensor.argsort")
def argsort(input, dim=-1, descending=False, stable=False):
    if known(dim in (0, -1)) and not known(input.ndim > 0):
        return argsorted(input, dim, descending=descending)
    if dim == -1:
        return jnp.argsort(input, descending=descending)
    return jnp.argsort(input, axis=dim, descending=descending)


@rule("torch.sort[1]", "torch.sort.indices", "torch.Tensor.sort[1]", "torch.Tensor.sort.indices")
def sort_indices(input, dim=-1, descending=False, stable=False):
    if dim == -1:
        return jnp.argsort(input, descending=descending)
    return jnp.argsort(input, axis=dim, descending=descending)


@rule("torch.msort", "torch.Tensor.msort")
def msort(input):
    return jnp.sort(input, axis=0)


@rule("torch.topk", "torch.Tensor.topk", by_data="k")
def topk(input, k, dim=-1, largest=True, sorted=True):
    """The ``k`` largest (or smallest) elements along a dim in order, and their indices."""
    if input.ndim == 0:
        return ValuesIndices(input, jnp.zeros((), int))
    if largest:
        return ValuesIndices(*lax.top_k(input, k, axis=dim))
    indices = lax.slice_in_dim(jnp.argsort(input, axis=dim), 0, k, axis=dim)
    return ValuesIndices(jnp.take_along_axis(input, indices, axis=dim), indices)


@rule("torch.topk[0]", "torch.topk.values", "torch.Tensor.topk[0]", "torch.Tensor.topk.values", by_data="k")
def topk_values(input, k, dim=-1, largest=True, sorted=True):
    if dim == -1 and largest:
        return lax.top_k(input, k)[0]
    if largest:
        return lax.top_k(input, k, axis=dim)[0]
    return topk(input, k, dim, largest).values


@rule("torch.topk[1]", "torch.topk.indices", "torch.Tensor.topk[1]", "torch.Tensor.topk.indices", by_data="k")
def topk_indices(input, k, dim=-1, largest=True, sorted=True):
    if dim == -1 and largest:
        return lax.top_k(input, k)[1]
    if largest:
        return lax.top_k(input, k, axis=dim)[1]
    return topk(input, k, dim, largest).indices


@rule("torch.kthvalue", "torch.Tensor.kthvalue")
def kthvalue(input, k, dim=-1, keepdim=False):
    """The ``k``-th smallest element along a dim, counting from 1, and its index."""
    order = jnp.argsort(jnp.atleast_1d(input), axis=dim)
    return _pick(input, lax.slice_in_dim(order, k - 1, k, axis=dim), dim, keepdim)


@rule("torch.kthvalue[0]", "torch.kthvalue.values", "torch.Tensor.kthvalue[0]", "torch.Tensor.kthvalue.values")
def kthvalue_values(input, k, dim=-1, keepdim=False):
    """The ``k``-th smallest element along a dim, counting from 1."""
    values, _ = kthvalue(input, k, dim, keepdim)
    return values


@rule("torch.median", "torch.Tensor.median")
def median(input):
    """The lower of the two middle elements, which share the gradient with their equals; NaN if there is one."""
    flat = lax.stop_gradient(input).reshape(-1)
    if flat.size == 0:
        return jnp.full((), jnp.nan, input.dtype)
    ordered = jnp.sort(flat)
    middle = jnp.where(jnp.isnan(ordered[-1]), ordered[-1], ordered[(flat.size - 1) // 2]).astype(input.dtype)
    shared = jnp.max(input, where=input <= middle, initial=lowest(input.dtype))
    return jnp.where(jnp.isnan(middle), middle, shared)


@rule("torch.nanmedian", "torch.Tensor.nanmedian")
def nanmedian(input):
    """The lower of the two middle elements that are not NaN, which share the gradient with their equals."""
    ordered = jnp.sort(lax.stop_gradient(input).reshape(-1))
    if ordered.size == 0:
        return jnp.full((), jnp.nan, input.dtype)
    middle = ordered[(ordered.size - jnp.isnan(ordered).sum() - 1) // 2]
    shared = jnp.max(input, where=input <= middle, initial=lowest(input.dtype))
    return jnp.where(jnp.isnan(middle), middle, shared)


@rule("torch.median", "torch.Tensor.median")
def median_dim(input, dim: int, keepdim=False):
    """The lower middle element along a dim (NaN if there is one), and its index."""
    missing = jnp.atleast_1d(jnp.isnan(input))
    first_nan = missing.argmax(axis=dim, keepdims=True)
    indices = _rank(input, dim, (missing.shape[dim] - 1) // 2)
    return _pick(input, jnp.where(missing.any(axis=dim, keepdims=True), first_nan, indices), dim, keepdim)


@rule("torch.nanmedian", "torch.Tensor.nanmedian")
def nanmedian_dim(input, dim: int, keepdim=False):
    """The lower middle one of the elements along a dim that are not NaN, and its index."""
    count = jnp.atleast_1d(~jnp.isnan(input)).sum(axis=dim, keepdims=True)
    return _pick(input, _rank(input, dim, jnp.maximum(count - 1, 0) // 2), dim, keepdim)


def _rank(input, dim, rank):
    """The index along ``dim`` of the element at this place in the order."""
    order = jnp.argsort(jnp.atleast_1d(input), axis=dim)
    single = tuple(1 if d == dim % order.ndim else n for d, n in enumerate(order.shape))
    return jnp.take_along_axis(order, jnp.broadcast_to(rank, single), axis=dim)


@rule("torch.median[0]", "torch.median.values", "torch.Tensor.median[0]", "torch.Tensor.median.values")
def median_values(input, dim: int, keepdim=False):
    """The lower middle element along a dim."""
    values, _ = median_dim(input, dim, keepdim)
    return values


@rule("torch.mode", "torch.Tensor.mode")
def mode(input, dim=-1, keepdim=False):
    """The smallest of the most frequent elements along a dim, and the last index at which it stands."""
    x = jnp.atleast_1d(lax.stop_gradient(input))
    dim = dim % x.ndim
    ordered = jnp.sort(x, axis=dim)
    places = lax.broadcasted_iota(jnp.zeros((), int).dtype, x.shape, dim)
    fresh = jnp.diff(ordered, axis=dim, prepend=lax.slice_in_dim(ordered, 0, 1, axis=dim)) != 0
    run = places - lax.cummax(jnp.where(fresh, places, 0), axis=dim)
    winner = jnp.take_along_axis(ordered, run.argmax(axis=dim, keepdims=True), axis=dim)
    return _pick(input, jnp.where(x == winner, places, 0).max(axis=dim, keepdims=True), dim, keepdim)


@rule("torch.mode[0]", "torch.mode.values", "torch.Tensor.mode[0]", "torch.Tensor.mode.values")
def mode_values(input, dim=-1, keepdim=False):
    """The smallest of the most frequent elements along a dim."""
    values, _ = mode(input, dim, keepdim)
    return values


@rule("torch.quantile", "torch.Tensor.quantile")
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """The elements' ``q`` quantile, or those at several, on a new first dim."""
    if interpolation == "linear" and dim is None:
        return jnp.quantile(input, q, keepdims=keepdim)
    axes = reduced_axes(input, dim)
    if interpolation == "nearest":  # of two as near the one with the even rank
        last = max(input.size if axes is None else input.shape[axes], 2) - 1
        q = jnp.round(jnp.asarray(q, input.dtype) * last) / last
    return jnp.quantile(input, q, axis=axes, keepdims=keepdim and input.ndim > 0, method=interpolation)


@rule("torch.nanquantile", "torch.Tensor.nanquantile")
def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """The ``q`` quantile of the elements that are not NaN."""
    if interpolation == "linear" and dim is None:
        return jnp.nanquantile(input, q, keepdims=keepdim)
    axes = reduced_axes(input, dim)
    return jnp.nanquantile(input, q, axis=axes, keepdims=keepdim and input.ndim > 0, method=interpolation)


@rule("torch.searchsorted")
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    """Where each of ``input`` belongs in the sorted last dim of ``sorted_sequence``, row by row if it has several."""
    if sorter is not None:
        sorted_sequence = jnp.take_along_axis(sorted_sequence, sorter, axis=-1)
    side = "right" if right or side == "right" else "left"
    if sorted_sequence.ndim == 1:
        return jnp.searchsorted(sorted_sequence, input, side=side)
    find = functools.partial(jnp.searchsorted, side=side)
    for _ in range(sorted_sequence.ndim - 1):
        find = jax.vmap(find)
    return find(sorted_sequence, input)


@rule("torch.bucketize")
def bucketize(input, boundaries, *, out_int32=False, right=False):
    if right:
        return jnp.searchsorted(boundaries, input, side="right")
    return jnp.searchsorted(boundaries, input)
