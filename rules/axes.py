"""The order of dims, and of the elements along them."""

import jax.numpy as jnp

from transpile.rule import known, rule


@rule("torch.permute", "torch.Tensor.permute", "torch.permute_copy")
def permute(input, *dims):
    return input.transpose(*dims)


@rule("torch.transpose", "torch.Tensor.transpose", "torch.transpose_copy")
def transpose(input, dim0, dim1):
    if known(dim0 == dim1):
        return input  # a 0-dim tensor has a dim 0 to exchange with itself
    return input.swapaxes(dim0, dim1)


@rule("torch.swapdims", "torch.Tensor.swapdims")
def swapdims(input, dim0, dim1):
    return input.swapaxes(dim0, dim1)


@rule("torch.swapaxes", "torch.Tensor.swapaxes")
def swapaxes(input, axis0, axis1):
    return input.swapaxes(axis0, axis1)


@rule("torch.t", "torch.Tensor.t", "torch.t_copy", "torch.Tensor.T")
def t(input):
    return input.T


@rule("torch.Tensor.mT")
def matrix_transpose(input):
    return input.mT


@rule("torch.Tensor.H")
def hermitian(input):
    return input.T.conj()


@rule("torch.Tensor.mH", "torch.adjoint", "torch.Tensor.adjoint")
def adjoint(input):
    return input.mT.conj()


@rule("torch.movedim", "torch.Tensor.movedim", "torch.moveaxis", "torch.Tensor.moveaxis")
def movedim(input, source, destination):
    return jnp.moveaxis(input, source, destination)


@rule("torch.flip", "torch.Tensor.flip")
def flip(input, dims: int | tuple):
    return jnp.flip(input, axis=dims)


@rule("torch.flip", "torch.Tensor.flip")
def flip_loose(input, *dims):
    return jnp.flip(input, axis=dims)


@rule("torch.fliplr", "torch.Tensor.fliplr")
def fliplr(input):
    return jnp.fliplr(input)


@rule("torch.flipud", "torch.Tensor.flipud")
def flipud(input):
    return jnp.flipud(input)


@rule("torch.roll", "torch.Tensor.roll")
def roll(input, shifts, dims=None):
    if isinstance(dims, (tuple, list)) and not dims:
        return jnp.roll(input, shifts)
    return jnp.roll(input, shifts, axis=dims)


@rule("torch.rot90", "torch.Tensor.rot90")
def rot90(input, k=1, dims=(0, 1)):
    if isinstance(dims, list):
        return jnp.rot90(input, k, axes=tuple(dims))
    return jnp.rot90(input, k, axes=dims)


@rule("torch.Tensor.repeat", by_data="repeats")
def repeat(input, *repeats):
    return jnp.tile(input, repeats)


@rule("torch.tile", "torch.Tensor.tile", by_data="dims")
def tile(input, *dims):
    return jnp.tile(input, dims)


@rule("torch.repeat_interleave", "torch.Tensor.repeat_interleave", by_data="repeats")
def repeat_interleave(input, repeats, dim=None):
    return jnp.repeat(input, repeats, axis=dim)


@rule("torch.repeat_interleave", "torch.Tensor.repeat_interleave")
def repeat_interleave_to(input, repeats, dim=None, *, output_size):
    return jnp.repeat(input, repeats, axis=dim, total_repeat_length=output_size)


@rule("torch.repeat_interleave", "torch.Tensor.repeat_interleave", by_data="repeats")
def repeat_indices(repeats):
    """Each index as often as ``repeats`` says at its place."""
    return jnp.repeat(jnp.arange(repeats.shape[0]), repeats)


@rule("torch.repeat_interleave", "torch.Tensor.repeat_interleave")
def repeat_indices_to(repeats, *, output_size):
    return jnp.repeat(jnp.arange(repeats.shape[0]), repeats, total_repeat_length=output_size)


@rule("torch.Tensor.unfold", "torch.unfold_copy", by_data=("size", "step"))
def sliding_windows(input, dimension, size, step):
    """Windows of ``size`` elements, ``step`` apart, along one dim; the elements of each come last."""
    if input.ndim == 0:
        return input.reshape(1)[:size]
    starts = jnp.arange(0, input.shape[dimension] - size + 1, step)
    windows = jnp.take(input, starts[:, None] + jnp.arange(size), axis=dimension)
    return jnp.moveaxis(windows, dimension % input.ndim + 1, -1)


@rule("torch.diagonal", "torch.Tensor.diagonal", "torch.diagonal_copy")
def diagonal(input, offset=0, dim1=0, dim2=1):
    if offset == 0 and dim1 == 0 and dim2 == 1:
        return jnp.diagonal(input)
    if offset == 0:
        return jnp.diagonal(input, axis1=dim1, axis2=dim2)
    return jnp.diagonal(input, offset, axis1=dim1, axis2=dim2)


@rule("torch.diag", "torch.Tensor.diag")
def diag(input, diagonal=0):
    if diagonal == 0:
        return jnp.diag(input)
    return jnp.diag(input, k=diagonal)


@rule("torch.diagflat", "torch.Tensor.diagflat")
def diagflat(input, offset=0):
    if offset == 0:
        return jnp.diagflat(input)
    return jnp.diagflat(input, k=offset)


@rule("torch.diag_embed", "torch.Tensor.diag_embed")
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Square matrices in the dims ``dim1`` and ``dim2``, zero but for the last dim of ``input`` on one diagonal."""
    n = input.shape[-1] + abs(offset)
    rows = jnp.arange(input.shape[-1]) + max(-offset, 0)
    columns = jnp.arange(input.shape[-1]) + max(offset, 0)
    matrices = jnp.zeros((*input.shape[:-1], n, n), input.dtype).at[..., rows, columns].set(input)
    return jnp.moveaxis(matrices, (-2, -1), (dim1, dim2))


@rule("torch.tril", "torch.Tensor.tril")
def tril(input, diagonal=0):
    if diagonal == 0:
        return jnp.tril(input)
    return jnp.tril(input, k=diagonal)


@rule("torch.triu", "torch.Tensor.triu")
def triu(input, diagonal=0):
    if diagonal == 0:
        return jnp.triu(input)
    return jnp.triu(input, k=diagonal)
