"""Factors of matrices: Cholesky, QR, singular values, eigenvalues, LU."""

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import Unsupported, rule

from .linalg import hermitian_from


@rule("torch.linalg.cholesky", "torch.cholesky", "torch.Tensor.cholesky")
def cholesky(A, upper=False):
    """L with ``A = L @ L.conj().mT``, or its transpose; NaN where A is not positive definite."""
    return jnp.linalg.cholesky(hermitian_gradient(A), upper=upper, symmetrize_input=False)


@rule("torch.linalg.cholesky_ex")
def cholesky_ex(A, *, upper=False, check_errors=False):
    """The factor, and 1 for each matrix that has none."""
    factor = cholesky(A, upper)
    return factor, jnp.isnan(factor).any(axis=(-2, -1)).astype(jnp.int32)


def hermitian_gradient(A):
    """A, whose gradient torch spreads over both triangles although only one is read."""
    symmetric = (A + A.conj().mT) / 2
    return symmetric + lax.stop_gradient(A - symmetric)


@rule("torch.linalg.qr")
def linalg_qr(A, mode="reduced"):
    if mode == "r":
        return jnp.zeros(0, A.dtype), jnp.linalg.qr(A, mode="r")
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
        return jnp.linalg.svd(A)
    return jnp.linalg.svd(A, full_matrices=False)


@rule("torch.linalg.svdvals")
def svdvals(A, *, driver=None):
    return jnp.linalg.svdvals(A)


@rule("torch.svd", "torch.Tensor.svd")
def svd(input, some=True, compute_uv=True):
    """``U, S, V`` with ``input = U @ diag(S) @ V.conj().mT``: V, not its transpose."""
    if not compute_uv:
        *batch, m, n = input.shape
        return jnp.zeros((*batch, m, m), input.dtype), jnp.linalg.svdvals(input), jnp.zeros((*batch, n, n), input.dtype)
    u, s, vh = jnp.linalg.svd(input, full_matrices=not some)
    return u, s, vh.conj().mT


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


@rule("torch.linalg.lu_factor")
def lu_factor(A, *, pivot=True):
    """L and U in one matrix, and the row each row was exchanged with, counted from 1."""
    if not pivot:
        raise Unsupported("LU without pivoting is not in JAX: use pivot=True")
    factors, pivots, _ = lax.linalg.lu(A)
    return factors, pivots + 1


@rule("torch.linalg.lu_factor_ex")
def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """As lu_factor, and the place from 1 of the first 0 on the diagonal of U, 0 if there is none."""
    factors, pivots = lu_factor(A, pivot=pivot)
    zeros = jnp.diagonal(factors, axis1=-2, axis2=-1) == 0
    return factors, pivots, jnp.where(zeros.any(axis=-1), zeros.argmax(axis=-1) + 1, 0).astype(jnp.int32)


@rule("torch.lu", "torch.Tensor.lu", "torch.functional.lu")
def lu(A, pivot=True, get_infos=False):
    if get_infos:
        return lu_factor_ex(A, pivot=pivot)
    return lu_factor(A, pivot=pivot)


@rule("torch.linalg.lu")
def linalg_lu(A, *, pivot=True):
    """``P, L, U`` with ``A = P @ L @ U``."""
    return lu_unpack(*lu_factor(A, pivot=pivot))


@rule("torch.lu_unpack", "torch.functional.lu_unpack")
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """``P, L, U`` from what lu_factor returns; what is not asked for is empty."""
    *_, m, n = LU_data.shape
    empty = jnp.zeros(0, LU_data.dtype)
    P, L, U = empty, empty, empty
    if unpack_data:
        k = min(m, n)
        L = jnp.tril(LU_data[..., :k], -1) + jnp.eye(m, k, dtype=LU_data.dtype)
        U = jnp.triu(LU_data[..., :k, :])
    if unpack_pivots:
        rows = lax.linalg.lu_pivots_to_permutation(LU_pivots - 1, m)
        P = jax.nn.one_hot(rows, m, dtype=LU_data.dtype).mT
    return P, L, U


@rule("torch.geqrf", "torch.Tensor.geqrf")
def geqrf(input):
    reflectors, scales = jnp.linalg.qr(input, mode="raw")
    return reflectors.mT, scales


@rule("torch.linalg.householder_product", "torch.orgqr", "torch.Tensor.orgqr")
def householder_product(A, tau):
    """The first columns of the product of the reflections ``I - tau v v*`` that geqrf stores below the diagonal."""
    return reflect(A, tau, jnp.eye(*A.shape[-2:], dtype=A.dtype))


@rule("torch.ormqr", "torch.Tensor.ormqr")
def ormqr(input, tau, other, left=True, transpose=False):
    """``Q @ other`` or ``other @ Q`` for the Q of geqrf, or for its adjoint."""
    if left:
        return reflect(input, tau, other, transpose)
    return reflect(input, tau, other.conj().mT, not transpose).conj().mT


def reflect(reflectors, scales, other, adjoint=False):
    """``Q @ other``, or ``Q* @ other``, for Q given by its Householder reflections."""
    m = reflectors.shape[-2]
    order = range(scales.shape[-1])
    for i in order if adjoint else reversed(order):
        v = jnp.where(jnp.arange(m) > i, reflectors[..., i], jnp.arange(m) == i)[..., None]
        scale = scales[..., i, None, None]
        other = other - (scale.conj() if adjoint else scale) * (v @ (v.conj().mT @ other))
    return other


@rule("torch.linalg.ldl_factor", "torch.linalg.ldl_factor_ex")
def ldl_factor(A, *, hermitian=False, check_errors=False):
    raise Unsupported("JAX has no LDL factorization: use torch.linalg.lu_factor, or cholesky if positive definite")


@rule("torch.linalg.ldl_solve")
def ldl_solve(LD, pivots, B, *, hermitian=False):
    raise Unsupported("JAX has no LDL factorization: use torch.linalg.solve")
