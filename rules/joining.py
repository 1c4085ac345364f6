"""Arrays put together, and cut into pieces."""

import jax
import jax.numpy as jnp
import numpy as np

from transpile.rule import Tensor, rule


@rule("torch.cat", "torch.concat", "torch.concatenate")
def cat(tensors, dim=0):
    return jnp.concatenate(tensors, axis=dim)


@rule("torch.cat[empty]", "torch.concat[empty]", "torch.concatenate[empty]")
def cat_with_empty(tensors, dim=0):
    """The join of tensors of which some may be of shape (0,): torch leaves these out, but for their dtype."""
    dtype = jnp.result_type(*tensors)
    kept = [t for t in tensors if t.shape != (0,)] or tensors
    return jnp.concatenate(kept, axis=dim).astype(dtype)


@rule("torch.stack")
def stack(tensors, dim=0):
    if dim == 0:
        return jnp.stack(tensors)
    return jnp.stack(tensors, axis=dim)


@rule("torch.hstack")
def hstack(tensors):
    return jnp.hstack(tensors)


@rule("torch.vstack", "torch.row_stack")
def vstack(tensors):
    return jnp.vstack(tensors)


@rule("torch.dstack")
def dstack(tensors):
    return jnp.dstack(tensors)


@rule("torch.column_stack")
def column_stack(tensors):
    return jnp.column_stack(tensors)


@rule("torch.block_diag")
def block_diag(*tensors: Tensor):
    return jax.scipy.linalg.block_diag(*tensors)


@rule("torch.chunk", "torch.unsafe_chunk", "torch.Tensor.chunk", "torch.Tensor.unsafe_chunk", by_data="chunks")
def chunk(input, chunks, dim=0):
    """At most ``chunks`` pieces of equal size, but for a smaller last one: 5 in 4 chunks is 2, 2, 1."""
    length = -(-input.shape[dim] // chunks)
    return split_sizes(input, length or [0] * chunks, dim)


@rule("torch.split", "torch.functional.split", by_data="split_size_or_sections")
def split_sizes(tensor, split_size_or_sections, dim=0):
    """Pieces of one size, but for a smaller last one, or of the listed sizes."""
    sizes, length = split_size_or_sections, tensor.shape[dim]
    if isinstance(sizes, int):
        return tuple(jnp.split(tensor, list(range(sizes, length, sizes)) if length else [], axis=dim))
    return split_sections(tensor, sizes, dim)


def split_sections(input, sizes, dim):
    """Pieces of these sizes."""
    return tuple(jnp.split(input, np.cumsum(sizes[:-1]), axis=dim))


@rule("torch.Tensor.split", by_data="split_size")
def split_method(input, split_size, dim=0):
    return split_sizes(input, split_size, dim)


@rule("torch.unsafe_split", "torch.Tensor.unsafe_split", "torch.split_copy", by_data="split_size")
def unsafe_split(input, split_size, dim=0):
    return split_sizes(input, split_size, dim)


@rule(
    "torch.split_with_sizes",
    "torch.Tensor.split_with_sizes",
    "torch.unsafe_split_with_sizes",
    "torch.Tensor.unsafe_split_with_sizes",
    "torch.split_with_sizes_copy",
    by_data="split_sizes",
)
def split_with_sizes(input, split_sizes, dim=0):
    return split_sections(input, split_sizes, dim)


@rule("torch.tensor_split", "torch.Tensor.tensor_split", by_data="indices_or_sections")
def tensor_split(input, indices_or_sections, dim=0):
    return tuple(jnp.array_split(input, indices_or_sections, axis=dim))


@rule("torch.hsplit", "torch.Tensor.hsplit")
def hsplit(input, indices_or_sections):
    return tuple(jnp.hsplit(input, indices_or_sections))


@rule("torch.vsplit", "torch.Tensor.vsplit")
def vsplit(input, indices_or_sections):
    return tuple(jnp.vsplit(input, indices_or_sections))


@rule("torch.dsplit", "torch.Tensor.dsplit")
def dsplit(input, indices_or_sections):
    return tuple(jnp.dsplit(input, indices_or_sections))


@rule("torch.unbind", "torch.Tensor.unbind", "torch.unbind_copy")
def unbind(input, dim=0):
    if dim == 0:
        return jnp.unstack(input)
    return jnp.unstack(input, axis=dim)
