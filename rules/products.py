"""Products of vectors, matrices and tensors."""

import jax.numpy as jnp
from jax import lax

from transpile.rule import Tensor, Unsupported, known, rule

from .norms import vector_norm


@rule("torch.matmul", "torch.Tensor.matmul", "torch.linalg.matmul")
def matmul(input, other):
    return input @ other


@rule("torch.mm", "torch.Tensor.mm", "torch.bmm", "torch.Tensor.bmm")
def mm(input, mat2):
    return input @ mat2


@rule("torch.sparse.mm", "torch.spmm", "torch.smm", "torch.Tensor.smm", "torch.hspmm", "torch.hsmm")
def sparse_mm(mat1, mat2, reduce="sum"):
    if reduce != "sum":
        raise Unsupported("sparse.mm reduces over stored entries, which JAX arrays do not mark: use reduce='sum'")
    return mat1 @ mat2


@rule("torch.mv", "torch.Tensor.mv")
def mv(input, vec):
    return input @ vec


@rule("torch.dot", "torch.Tensor.dot")
def dot(input, tensor):
    return jnp.dot(input, tensor)


@rule("torch.vdot", "torch.Tensor.vdot")
def vdot(input, other):
    return jnp.vdot(input, other)


@rule("torch.inner", "torch.Tensor.inner")
def inner(input, other):
    return jnp.inner(input, other)


@rule("torch.outer", "torch.Tensor.outer", "torch.ger", "torch.Tensor.ger")
def outer(input, vec2):
    return jnp.outer(input, vec2)


# With beta=0 torch leaves the first operand out, NaN and all; so do these.


@rule("torch.addmm", "torch.Tensor.addmm", "torch.sparse.addmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    if beta == 1 and alpha == 1:
        return input + mat1 @ mat2
    if beta == 1:
        return input + alpha * (mat1 @ mat2)
    if beta == 0:
        return alpha * (mat1 @ mat2)
    return beta * input + alpha * (mat1 @ mat2)


@rule("torch.addmv", "torch.Tensor.addmv")
def addmv(input, mat, vec, *, beta=1, alpha=1):
    if beta == 1 and alpha == 1:
        return input + mat @ vec
    if beta == 0:
        return alpha * (mat @ vec)
    return beta * input + alpha * (mat @ vec)


@rule("torch.baddbmm", "torch.Tensor.baddbmm")
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    if beta == 1 and alpha == 1:
        return input + batch1 @ batch2
    if beta == 1:
        return input + alpha * (batch1 @ batch2)
    if beta == 0:
        return alpha * (batch1 @ batch2)
    return beta * input + alpha * (batch1 @ batch2)


@rule("torch.addbmm", "torch.Tensor.addbmm")
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    if beta == 1 and alpha == 1:
        return input + jnp.einsum("bij,bjk->ik", batch1, batch2)
    if beta == 0:
        return alpha * jnp.einsum("bij,bjk->ik", batch1, batch2)
    return beta * input + alpha * jnp.einsum("bij,bjk->ik", batch1, batch2)


@rule("torch.addr", "torch.Tensor.addr")
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    if beta == 1 and alpha == 1:
        return input + jnp.outer(vec1, vec2)
    if beta == 0:
        return alpha * jnp.outer(vec1, vec2)
    return beta * input + alpha * jnp.outer(vec1, vec2)


# Signatures that torch has deprecated and still takes: `x.addmm_(1, -2, a, b)`.


@rule("torch.Tensor.addmm", "torch.Tensor.baddbmm", "torch.Tensor.addmv", deprecated=True)
def addmm_scaled(input, beta, alpha, mat1, mat2):
    if known(beta == 1):
        return input + alpha * (mat1 @ mat2)
    if known(beta == 0):
        return alpha * (mat1 @ mat2)
    return beta * input + alpha * (mat1 @ mat2)


@rule("torch.addmm", "torch.baddbmm", "torch.addmv", deprecated=True)
def addmm_between(beta, input, alpha, mat1, mat2):
    if known(beta == 1):
        return input + alpha * (mat1 @ mat2)
    if known(beta == 0):
        return alpha * (mat1 @ mat2)
    return beta * input + alpha * (mat1 @ mat2)


@rule("torch.Tensor.addmm", "torch.Tensor.baddbmm", "torch.Tensor.addmv", deprecated=True)
def addmm_beta(input, beta, mat1, mat2):
    if known(beta == 0):
        return mat1 @ mat2
    return beta * input + mat1 @ mat2


@rule("torch.einsum", "torch.functional.einsum")
def einsum_of_one(equation, operand: Tensor):
    if known(not jnp.issubdtype(operand.dtype, jnp.inexact)):
        return einsum_of_whole(equation, operand)
    return jnp.einsum(equation, operand)


@rule("torch.einsum", "torch.functional.einsum")
def einsum(equation, *operands: Tensor):
    if known(len(operands) > 1):
        return jnp.einsum(equation, *operands)
    return einsum_of_any(equation, operands)


@rule("torch.einsum", "torch.functional.einsum")
def einsum_of_list(equation, operands):
    if known(isinstance(operands, (tuple, list))) and known(len(operands) > 1):
        return jnp.einsum(equation, *operands)
    return einsum_of_any(equation, operands)


@rule("torch.einsum", "torch.functional.einsum")
def einsum_of_sublists(operand: Tensor, sublist: list, *operands):
    return jnp.einsum(operand, sublist, *operands)


def einsum_of_whole(equation, operand):
    """What is summed is counted in whole numbers, as by `sum`: JAX's sum of bools is a bool, that of bytes wraps."""
    given, arrow, kept = equation.replace(" ", "").partition("->")
    dims = given.replace(".", "")
    summed = set(dims) - set(kept) if arrow else len(set(dims)) < len(dims)
    return jnp.einsum(equation, operand.astype(int) if summed else operand)


def einsum_of_any(equation, operands):
    """Of an array, or of a list of arrays."""
    operands = operands if isinstance(operands, (tuple, list)) else (operands,)
    if len(operands) == 1 and not jnp.issubdtype(operands[0].dtype, jnp.inexact):
        return einsum_of_whole(equation, operands[0])
    return jnp.einsum(equation, *operands)


def contracted(a, b, dims):
    """The sum of products over some dims of both arrays; where only one of a pair has size 1, the other is summed alone."""
    for i, j in zip(*dims):
        if a.shape[i] == 1:
            b = b.sum(axis=j, keepdims=True)
        elif b.shape[j] == 1:
            a = a.sum(axis=i, keepdims=True)
    return jnp.tensordot(a, b, axes=dims)


@rule("torch.tensordot", "torch.functional.tensordot")
def tensordot(a, b, dims=2):
    if not isinstance(dims, (tuple, list)):
        return jnp.tensordot(a, b, axes=dims)
    return contracted(a, b, dims)


@rule("torch.kron", "torch.Tensor.kron")
def kron(input, other):
    return jnp.kron(input, other)


@rule("torch.chain_matmul", "torch.functional.chain_matmul")
def chain_matmul(*matrices):
    return jnp.linalg.multi_dot(matrices)


@rule("torch.linalg.multi_dot")
def multi_dot(tensors):
    return jnp.linalg.multi_dot(tensors)


@rule("torch.matrix_power", "torch.Tensor.matrix_power", "torch.linalg.matrix_power")
def matrix_power(input, n):
    return jnp.linalg.matrix_power(input, n)


@rule("torch.cross", "torch.Tensor.cross")
def cross(input, other, dim=None):
    if dim is None:
        return jnp.cross(input, other, axis=input.shape.index(3))  # torch takes the first dim of size 3
    return jnp.cross(input, other, axis=dim)


@rule("torch.linalg.cross")
def linalg_cross(input, other, *, dim=-1):
    return jnp.cross(input, other, axis=dim)


@rule("torch.linalg.vecdot")
def vecdot(x, y, *, dim=-1):
    return jnp.vecdot(x, y, axis=dim)


@rule("torch.nn.functional.linear")
def linear(input, weight, bias=None):
    if bias is None:
        return input @ weight.T
    return input @ weight.T + bias


@rule("torch.nn.functional.bilinear", "torch.bilinear")
def bilinear(input1, input2, weight, bias=None):
    if bias is None:
        return jnp.einsum("...i,oij,...j->...o", input1, weight, input2)
    return jnp.einsum("...i,oij,...j->...o", input1, weight, input2) + bias


@rule("torch.cdist", "torch.functional.cdist")
def cdist(x1, x2, p=2.0, compute_mode=None):
    """Distances of the rows of x1 (..., P, M) from those of x2 (..., R, M): (..., P, R)."""
    difference = x1[..., :, None, :] - x2[..., None, :, :]
    return largest_coordinate(difference) if p == float("inf") else vector_norm(difference, p, dim=-1)


def largest_coordinate(difference):
    """The largest size over the last axis; as in torch.cdist, tied coordinates each get the whole gradient."""
    size = vector_norm(difference[..., None], dim=-1)
    largest = lax.stop_gradient(size.max(axis=-1, initial=0))
    tied = size == largest[..., None]
    return largest + jnp.where(tied, size - lax.stop_gradient(size), 0).sum(axis=-1)


@rule("torch.sparse.sampled_addmm")
def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0):
    raise Unsupported("JAX arrays mark no stored entries to sample at: multiply (mat1 @ mat2) by a mask")
