"""Sparse tensors, which become dense arrays of the same numbers."""

import jax.numpy as jnp

from transpile.rule import rule

# What asks for the stored entries, `values()`, `coalesce()`, or takes the rest for missing, `torch.sparse.softmax`, has no rule.


@rule(
    "torch.Tensor.to_sparse",
    "torch.Tensor.to_sparse_coo",
    "torch.Tensor.to_sparse_csr",
    "torch.Tensor.to_sparse_csc",
    "torch.Tensor.to_sparse_bsr",
    "torch.Tensor.to_sparse_bsc",
    note="the array stays dense, so that its zeros too must fit in memory: see jax.experimental.sparse for large ones",
)
def to_sparse(input, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    return input


@rule(
    "torch.sparse_coo_tensor",
    "torch.sparse.FloatTensor",
    note="the array is dense, so that its zeros too must fit in memory: see jax.experimental.sparse for large ones",
)
def sparse_coo_tensor(indices, values, size, *, dtype=None, is_coalesced=None, check_invariants=None):
    """A dense array of this size with the values at ``indices`` (dims, n), those at one place added up, and else zeros."""
    values = jnp.asarray(values, dtype)
    return jnp.zeros(size, values.dtype).at[tuple(jnp.asarray(indices))].add(values)


@rule("torch.Tensor.to_dense")
def to_dense(input, dtype=None, *, masked_grad=None):
    if dtype is None:
        return input
    return input.astype(dtype)
