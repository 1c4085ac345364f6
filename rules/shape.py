"""Sizes, and the same elements under another shape."""

import math

import jax.numpy as jnp

from transpile.rule import Dtype, Tensor, rule


@rule("torch.Tensor.size")
def size(input, dim):
    return input.shape[dim]


@rule("torch.Tensor.size", "torch.Tensor.shape")
def array_shape(input):
    return input.shape


@rule("torch.is_same_size", "torch.Tensor.is_same_size")
def is_same_size(input, other):
    return input.shape == other.shape


@rule("torch.Tensor.dim", "torch.Tensor.ndimension", "torch.Tensor.ndim")
def ndim(input):
    return input.ndim


@rule("torch.Tensor.numel", "torch.Tensor.nelement", "torch.numel")
def numel(input):
    return input.size


@rule("torch.Size.numel")
def size_numel(input):
    return math.prod(input)


@rule("torch.Tensor.resize_")
def resized(input, *sizes):
    """The first elements in row-major order under another shape; those beyond, which torch leaves undefined, are 0."""
    flat, size = input.reshape(-1), math.prod(sizes)
    return jnp.pad(flat[:size], (0, max(size - input.size, 0))).reshape(sizes)


@rule("torch.Tensor.resize_as_", "torch.resize_as_")
def resized_as(input, the_template):
    return resized(input, *the_template.shape)


@rule("torch.Tensor.view", "torch.view_copy")
def view_dtype(input, dtype: Dtype):
    return input.view(dtype)


@rule("torch.Tensor.view", "torch.Tensor.reshape", "torch.reshape", "torch.view_copy", by_data="shape")
def view(input, *shape):
    return input.reshape(*shape)


# An unknown `img.resize((w, h))` is a picture of Pillow's.
@rule("torch.Tensor.resize", by_data="shape", deprecated=True)
def resize(input, *shape):
    return input.reshape(*shape)


@rule("torch.Tensor.view_as", "torch.Tensor.reshape_as", "torch.Tensor.resize_as")
def view_as(input, other):
    return input.reshape(other.shape)


@rule("torch.flatten", "torch.Tensor.flatten")
def flatten(input, start_dim=0, end_dim=-1):
    if start_dim == 0 and end_dim == -1:
        return input.reshape(-1)
    if start_dim == 1 and end_dim == -1:
        return input.reshape(input.shape[0], -1)
    if end_dim == -1:
        return input.reshape(*input.shape[:start_dim], -1)
    if start_dim == 0 and end_dim == 1:
        return input.reshape(-1, *input.shape[2:])
    if start_dim == 1 and end_dim == 2:
        return input.reshape(input.shape[0], -1, *input.shape[3:])
    return flatten_dims(input, start_dim, end_dim)


def flatten_dims(input, start_dim, end_dim):
    """The dims from ``start_dim`` to ``end_dim``, both included, as one; a 0-dim array becomes 1-dim."""
    sizes = input.shape or (1,)
    start, end = start_dim % len(sizes), end_dim % len(sizes)
    return input.reshape(*sizes[:start], math.prod(sizes[start : end + 1]), *sizes[end + 1 :])


@rule("torch.unflatten", "torch.Tensor.unflatten", by_data="sizes")
def unflatten(input, dim, sizes):
    if dim == -1:
        return input.reshape(*input.shape[:-1], *sizes)
    if dim == 1:
        return input.reshape(input.shape[0], *sizes, *input.shape[2:])
    return unflatten_dim(input, dim, sizes)


def unflatten_dim(input, dim, sizes):
    """The dim ``dim`` as several of these sizes, one of which may be -1."""
    dim = dim % input.ndim
    return input.reshape(*input.shape[:dim], *sizes, *input.shape[dim + 1 :])


@rule("torch.ravel", "torch.Tensor.ravel")
def ravel(input):
    return input.ravel()


@rule("torch.unsqueeze", "torch.Tensor.unsqueeze", "torch.unsqueeze_copy")
def unsqueeze(input, dim):
    return jnp.expand_dims(input, dim)


@rule("torch.squeeze", "torch.Tensor.squeeze", "torch.squeeze_copy")
def squeeze(input, dim=None):
    """Without the given dims of size 1; a dim of another size stays, where ``jnp.squeeze`` would raise."""
    if dim is None:
        return input.squeeze()
    dims = (dim,) if isinstance(dim, int) else dim
    return input.squeeze(tuple(d for d in dims if input.ndim and input.shape[d] == 1))


@rule("torch.Tensor.expand", "torch.expand_copy", by_data="size")
def expand(input, *size):
    return expand_to(input, size)


def expand_to(input, sizes):
    """``input`` repeated to ``sizes``, where -1 keeps a size; new dims go in front."""
    old = (1,) * (len(sizes) - input.ndim) + input.shape
    return jnp.broadcast_to(input, tuple(o if s == -1 else s for s, o in zip(sizes, old)))


@rule("torch.Tensor.expand_as")
def expand_as(input, other):
    return jnp.broadcast_to(input, other.shape)


@rule("torch.broadcast_to", by_data="size")
def broadcast_to(input, size):
    return jnp.broadcast_to(input, size)


@rule("torch.Tensor.broadcast_to", by_data="size")
def broadcast_to_sizes(input, *size):
    return jnp.broadcast_to(input, size)


@rule("torch.broadcast_tensors")
def broadcast_tensors(*tensors: Tensor):
    return jnp.broadcast_arrays(*tensors)


@rule("torch.broadcast_shapes")
def broadcast_shapes(*shapes):
    return jnp.broadcast_shapes(*shapes)


@rule("torch.Tensor.sum_to_size", by_data="size")
def sum_to_size(input, *size):
    return summed_to(input, size)


def summed_to(input, sizes):
    """``input`` summed over the dims along which ``sizes`` would have been broadcast to its shape."""
    old = (1,) * (input.ndim - len(sizes)) + tuple(sizes)
    axes = tuple(d for d, n in enumerate(old) if n == 1 and input.shape[d] != 1)
    return (input.sum(axis=axes, keepdims=True) if axes else input).reshape(sizes)


@rule("torch.atleast_1d")
def atleast_1d(*tensors):
    return jnp.atleast_1d(*tensors)


@rule("torch.atleast_2d")
def atleast_2d(*tensors):
    return jnp.atleast_2d(*tensors)


@rule("torch.atleast_3d")
def atleast_3d(*tensors):
    return jnp.atleast_3d(*tensors)
