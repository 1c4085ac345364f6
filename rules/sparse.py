"""Sparse tensors, which jax.numpy does not have."""

from transpile.rule import Unsupported, rule


@rule(
    "torch.Tensor.to_sparse",
    "torch.Tensor.to_sparse_coo",
    "torch.Tensor.to_sparse_csr",
    "torch.Tensor.to_sparse_csc",
    "torch.Tensor.to_sparse_bsr",
    "torch.Tensor.to_sparse_bsc",
)
def to_sparse(input, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    raise Unsupported("jax.numpy has no sparse arrays: keep this one dense, or use jax.experimental.sparse")


@rule("torch.Tensor.to_dense")
def to_dense(input, dtype=None, *, masked_grad=None):
    if dtype is None:
        return input
    return input.astype(dtype)
