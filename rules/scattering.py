"""Writing by index. A value has the array's dtype, as in torch; of repeated indices neither promises a winner."""

import jax.numpy as jnp
from jax import lax

from transpile.rule import rule

from .extrema import highest, lowest


@rule("torch.scatter", "torch.Tensor.scatter")
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """``input`` with ``src`` (or a number) written to the places along ``dim`` that index names."""
    places, src = _scatter_places(input, dim, index, value if src is None else src)
    target = jnp.atleast_1d(input).at[places]
    written = target.set(src) if reduce is None else target.add(src) if reduce == "add" else target.multiply(src)
    return written.reshape(input.shape)


@rule("torch.scatter_add", "torch.Tensor.scatter_add")
def scatter_add(input, dim, index, src):
    """``input`` with ``src`` added at the places along ``dim`` that index names, repeats included."""
    places, src = _scatter_places(input, dim, index, src)
    return jnp.atleast_1d(input).at[places].add(src).reshape(input.shape)


def _scatter_places(input, dim, index, src):
    """An index tuple for ``.at``, and the leading part of ``src`` as large as ``index``."""
    index = jnp.atleast_1d(index)
    src = jnp.asarray(src, input.dtype)
    if index.size == 0:
        return (jnp.zeros(0, int),), jnp.zeros((0, *input.shape[1:]), input.dtype)
    places = list(jnp.indices(index.shape, sparse=True))
    places[dim] = index
    return tuple(places), src[tuple(map(slice, index.shape))] if src.ndim else src


@rule("torch.scatter_reduce", "torch.Tensor.scatter_reduce")
def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """``input`` reduced with ``src`` at the places that index names, with or without the element that was there."""
    places, src = _scatter_places(input, dim, index, src)
    x = jnp.atleast_1d(input)
    dtype = input.dtype
    if not include_self:
        # where the maximum equals the element left out, torch gives that one a share of the gradient, and drops it
        neutral = {"sum": 0, "mean": 0, "prod": 1, "amax": lowest(dtype), "amin": highest(dtype)}[reduce]
        x = x.at[places].set(jnp.asarray(neutral, dtype))
    if reduce == "amax":
        x = x.at[places].max(src)
    elif reduce == "amin":
        x = x.at[places].min(src)
    elif reduce == "prod":
        x = _scatter_product(x, places, src)
    else:
        x = x.at[places].add(src)
    if reduce == "mean":
        count = jnp.full(x.shape, int(include_self)).at[places].add(1)
        count = jnp.maximum(count, 1)
        x = x / count.astype(dtype) if jnp.issubdtype(dtype, jnp.inexact) else x // count.astype(dtype)
    return x.reshape(input.shape)


def _scatter_product(x, places, src):
    """``x.at[places].multiply(src)``, differentiable also where a place is repeated."""
    product = lax.stop_gradient(x).at[places].multiply(lax.stop_gradient(src))
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return product
    fixed_x, fixed_src = (lax.stop_gradient(jnp.where(v == 0, 1, v)) for v in (x, src))
    rest = fixed_x.at[places].multiply(fixed_src)  # the product of all factors but the zeros
    empty = (x == 0).astype(int).at[places].add((src == 0).astype(int))  # how many zeros
    slope_x = jnp.where(empty == (x == 0), rest / fixed_x, 0)
    slope_src = jnp.where(empty[places] == (src == 0), rest[places] / fixed_src, 0)
    change = slope_x * (x - lax.stop_gradient(x))
    return product + change.at[places].add(slope_src * (src - lax.stop_gradient(src)))


@rule("torch.index_add", "torch.Tensor.index_add")
def index_add(input, dim, index, source, *, alpha=1):
    if dim == 0 and alpha == 1:
        return input.at[index].add(source)
    if dim == 1 and alpha == 1:
        return input.at[:, index].add(source)
    return _at_dim(input, dim, index).add(source * alpha).reshape(input.shape)


@rule("torch.index_copy", "torch.Tensor.index_copy")
def index_copy(input, dim, index, source):
    """``input`` with the slices of ``source`` at these places along a dim."""
    if dim == 1:
        return input.at[:, index].set(source)
    return _at_dim(input, dim, index).set(source).reshape(input.shape)


@rule("torch.index_fill", "torch.Tensor.index_fill")
def index_fill(input, dim, index, value):
    """``input`` with one number at these places along a dim."""
    if dim == 1:
        return input.at[:, index].set(value)
    return _at_dim(input, dim, index).set(value).reshape(input.shape)


def _at_dim(input, dim, index):
    """``input.at[:, ..., index]`` with the index at ``dim``; a 0-dim array counts as 1-dim."""
    input = jnp.atleast_1d(input)
    return input.at[(slice(None),) * (dim % input.ndim) + (index,)]


@rule("torch.index_reduce", "torch.Tensor.index_reduce")
def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """``input`` reduced with the slices of ``source`` at the places along ``dim`` that index names."""
    source = jnp.atleast_1d(source)
    index = index.reshape([-1 if d == dim % source.ndim else 1 for d in range(source.ndim)])
    places = jnp.broadcast_to(index, source.shape)
    return scatter_reduce(input, dim, places, source, reduce, include_self=include_self)


@rule("torch.index_put", "torch.Tensor.index_put")
def index_put(input, indices, values, accumulate=False):
    """``values`` set, or added, at ``input[indices]``; an index None takes the whole dim."""
    target = input.at[tuple(slice(None) if i is None else i for i in indices)]
    return target.add(values) if accumulate else target.set(values)


@rule("torch.Tensor.put", "torch.put")
def put(input, index, source, accumulate=False):
    """``source`` set, or added, at these places of the flattened ``input``."""
    target = input.reshape(-1).at[index.reshape(-1)]
    written = target.add(source.reshape(-1)) if accumulate else target.set(source.reshape(-1))
    return written.reshape(input.shape)


@rule("torch.select_scatter", "torch.Tensor.select_scatter")
def select_scatter(input, src, dim, index):
    if dim == 0:
        return input.at[index].set(src)
    if dim == 1:
        return input.at[:, index].set(src)
    return _at_dim(input, dim, index).set(src)


@rule("torch.slice_scatter", "torch.Tensor.slice_scatter")
def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """``input`` with ``src`` written to ``start:end:step`` of a dim."""
    return _at_dim(input, dim, slice(start, end, step)).set(src)


@rule("torch.diagonal_scatter", "torch.Tensor.diagonal_scatter")
def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """``input`` with ``src`` written to a diagonal of the dims ``dim1`` and ``dim2``."""
    n = jnp.arange(src.shape[-1])
    matrices = jnp.moveaxis(input, (dim1, dim2), (-2, -1))
    written = matrices.at[..., n + max(-offset, 0), n + max(offset, 0)].set(src)
    return jnp.moveaxis(written, (-2, -1), (dim1, dim2))


@rule("torch.Tensor.fill_diagonal_")
def fill_diagonal_(input, fill_value, wrap=False):
    return jnp.fill_diagonal(input, fill_value, wrap=wrap, inplace=False)


@rule("torch.masked_scatter", "torch.Tensor.masked_scatter")
def masked_scatter(input, mask, source):
    """The elements of ``source`` in order, where the mask is True."""
    input, mask = jnp.broadcast_arrays(input, mask)
    order = jnp.maximum(jnp.cumsum(mask.reshape(-1)) - 1, 0).reshape(input.shape)
    return jnp.where(mask, source.reshape(-1)[order], input)
