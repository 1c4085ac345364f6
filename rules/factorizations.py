"""Factors of matrices: Cholesky, QR, singular values, eigenvalues, LU."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import rule

from .linalg import hermitian_from, hermitian_gradient


class CholeskyInfo(NamedTuple):
    """A Cholesky factor, and 0 where there is one."""

    L: jax.Array
    info: jax.Array


class SVD(NamedTuple):
    """``U @ diag(S) @ V.conj().mT``."""

    U: jax.Array
    S: jax.Array
    V: jax.Array


class QR(NamedTuple):
    """An orthogonal matrix and a triangular one."""

    Q: jax.Array
    R: jax.Array


@rule("torch.linalg.cholesky", "torch.cholesky", "torch.Tensor.cholesky")
def cholesky(A, upper=False):
    """L with ``A = L @ L.conj().mT``, or its transpose; NaN where A is not positive definite."""
    return jnp.linalg.cholesky(hermitian_gradient(A), upper=upper, symmetrize_input=False)


@rule("torch.linalg.cholesky_ex")
def cholesky_ex(A, *, upper=False, check_errors=False):
    """The factor, and 1 for each matrix that has none."""
    factor = cholesky(A, upper)
    return CholeskyInfo(factor, jnp.isnan(factor).any(axis=(-2, -1)).astype(jnp.int32))


@rule("torch.linalg.qr")
def linalg_qr(A, mode="reduced"):
    if mode == "r":
        return QR(jnp.zeros(0, A.dtype), jnp.linalg.qr(A, mode="r"))
    if mode == "reduced":
        return jnp.linalg.qr(A)
    return jnp.linalg.qr(A, mode="complete")


@rule("torch.qr", "torch.Tensor.qr")
def qr(input, some=True):
    if some:
        return jnp.linalg.qr(input)
    return jnp.linalg.qr(input, mode="complete")


@rule("torch.linalg.svd")
def linalg_svd(A, full_matrices=True, *, driver=None):
    if full_matrices:
        return full_svd(A)
    return jnp.linalg.svd(A, full_matrices=False)


def full_svd(A):
    """``U, S, Vh`` with square U and Vh. JAX differentiates the reduced form alone, and so does torch: the columns beyond it have no gradient."""
    u, s, vh = jnp.linalg.svd(A, full_matrices=False)
    return completed(u), s, completed(vh.conj().mT).conj().mT


def completed(q):
    """The unitary matrix whose first columns are these orthonormal ones."""
    if q.shape[-2] == q.shape[-1]:
        return q
    whole = jnp.linalg.qr(lax.stop_gradient(q), mode="complete")[0]
    return jnp.concatenate([q, whole[..., q.shape[-1] :]], axis=-1)


@rule("torch.linalg.svdvals")
def svdvals(A, *, driver=None):
    return jnp.linalg.svdvals(A)


@rule("torch.svd", "torch.Tensor.svd")
def svd(input, some=True, compute_uv=True):
    """``U, S, V`` with ``input = U @ diag(S) @ V.conj().mT``: V, not its transpose."""
    if not compute_uv:
        *batch, m, n = input.shape
        u, v = jnp.zeros((*batch, m, m), input.dtype), jnp.zeros((*batch, n, n), input.dtype)
        return SVD(u, jnp.linalg.svdvals(input), v)
    u, s, vh = jnp.linalg.svd(input, full_matrices=False) if some else full_svd(input)
    return SVD(u, s, vh.conj().mT)


# Only one triangle of A is read. JAX reads both when it averages them, and again when it differentiates.


@rule("torch.linalg.eigh")
def eigh(A, UPLO="L"):
    if UPLO == "L":
        return jnp.linalg.eigh(hermitian_from(A), symmetrize_input=False)
    return jnp.linalg.eigh(hermitian_from(A, UPLO), symmetrize_input=False)


@rule("torch.linalg.eigvalsh")
def eigvalsh(A, UPLO="L"):
    if UPLO == "L":
        return jnp.linalg.eigvalsh(hermitian_from(A), symmetrize_input=False)
    return jnp.linalg.eigvalsh(hermitian_from(A, UPLO), symmetrize_input=False)


@rule("torch.linalg.eig")
def eig(A):
    return jnp.linalg.eig(A)


@rule("torch.linalg.eigvals")
def eigvals(A):
    return jnp.linalg.eigvals(A)


@rule("torch.svd_lowrank")
def svd_lowrank(A, q=6, niter=2, M=None, *, key):
    """The first ``q`` singular triplets ``U, S, V`` of ``A - M``, by subspace iteration from random vectors."""
    A = A if M is None else A - M
    adjoint = A.conj().mT
    basis = jnp.linalg.qr(A @ jax.random.normal(key, (A.shape[-1], q), A.dtype))[0]
    for _ in range(niter):
        basis = jnp.linalg.qr(A @ jnp.linalg.qr(adjoint @ basis)[0])[0]
    u, s, vh = jnp.linalg.svd(basis.conj().mT @ A, full_matrices=False)
    return basis @ u, s, vh.conj().mT


@rule("torch.pca_lowrank")
def pca_lowrank(A, q=None, center=True, niter=2, *, key):
    """The first ``q`` principal components of the rows of A, as ``U, S, V``."""
    q = min(6, *A.shape[-2:]) if q is None else q
    return svd_lowrank(A - A.mean(axis=-2, keepdims=True) if center else A, q, niter, key=key)
