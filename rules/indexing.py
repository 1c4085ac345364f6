"""Reading by index: gather, select, masks. The sizes of some results follow the data: those run outside jit."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from transpile.rule import known, rule


@rule("torch.gather", "torch.Tensor.gather")
def gather(input, dim, index, *, sparse_grad=False):
    """``input[..., index[i, j, k], ...]`` with the index at ``dim``; in the other dims index may be shorter."""
    x, places = jnp.atleast_1d(input), jnp.atleast_1d(index)
    if places.size == 0:
        return jnp.zeros(index.shape, input.dtype)
    dim = dim % x.ndim
    window = tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(places.shape))
    return jnp.take_along_axis(x[window], places, axis=dim).reshape(index.shape)


@rule("torch.index_select", "torch.Tensor.index_select")
def index_select(input, dim, index):
    if known(index.ndim > 0):
        return jnp.take(input, index, axis=dim)
    return jnp.take(input, jnp.atleast_1d(index), axis=dim)


@rule("torch.take", "torch.Tensor.take")
def take(input, index):
    return jnp.take(input, index)


@rule("torch.take_along_dim", "torch.Tensor.take_along_dim")
def take_along_dim(input, indices, dim=None):
    if dim is None:
        return jnp.take(input, indices.reshape(-1))
    return jnp.take_along_axis(input, indices, axis=dim)


@rule("torch.select", "torch.Tensor.select", "torch.select_copy")
def select(input, dim, index):
    if dim == 0:
        return input[index]
    if dim == 1:
        return input[:, index]
    if dim == 2:
        return input[:, :, index]
    if dim == -1:
        return input[..., index]
    return jnp.take(input, index, axis=dim)


@rule("torch.narrow", "torch.Tensor.narrow", "torch.narrow_copy", "torch.Tensor.narrow_copy", by_data="length")
def narrow(input, dim, start, length):
    return lax.dynamic_slice_in_dim(input, start, length, axis=dim)


@rule("torch.masked_select", "torch.Tensor.masked_select", by_data=True)
def masked_select(input, mask):
    """The elements where the mask is True, as one dim; its size follows the data."""
    shape = jnp.broadcast_shapes(input.shape, mask.shape)
    known = isinstance(mask, np.ndarray)  # which chooses under jax.jit too
    return jnp.broadcast_to(input, shape)[(np if known else jnp).broadcast_to(mask, shape)]


@rule("torch.nonzero", "torch.Tensor.nonzero", by_data=True)
def nonzero(input, *, as_tuple=False):
    if as_tuple:
        return jnp.nonzero(jnp.atleast_1d(input))
    return jnp.argwhere(input)


@rule("torch.argwhere", "torch.Tensor.argwhere", by_data=True)
def argwhere(input):
    return jnp.argwhere(input)


@rule("torch.nonzero_static", "torch.Tensor.nonzero_static")
def nonzero_static(input, *, size, fill_value=-1):
    """The places of the first ``size`` elements that are not 0, filled up with ``fill_value``."""
    if input.size == 0:  # jnp.argwhere fills with 0 here
        return jnp.full((size, input.ndim), fill_value)
    return jnp.argwhere(input, size=size, fill_value=fill_value)


@rule("torch.unravel_index")
def unravel_index(indices, shape):
    return jnp.unravel_index(indices, shape)


@rule("torch.nn.functional.one_hot", by_data="num_classes")
def one_hot(tensor, num_classes):
    if num_classes == -1:
        return one_hot_of_data(tensor)
    return jax.nn.one_hot(tensor, num_classes, dtype=int)


@rule("torch.nn.functional.one_hot", by_data=True)
def one_hot_of_data(tensor):
    """One-hot vectors with as many classes as the data need, which jit cannot know."""
    return jax.nn.one_hot(tensor, int(tensor.max()) + 1, dtype=int)
