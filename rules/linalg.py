"""Inverses, determinants, ranks and functions of matrices."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import Unsupported, rule


@rule("torch.linalg.inv", "torch.inverse", "torch.Tensor.inverse")
def inv(A):
    return jnp.linalg.inv(A)


class InverseInfo(NamedTuple):
    """An inverse, and 0 where there is one."""

    inverse: jax.Array
    info: jax.Array


@rule("torch.linalg.inv_ex")
def inv_ex(A, *, check_errors=False):
    """The inverse, and 1 for each matrix that has none."""
    inverse = jnp.linalg.inv(A)
    return InverseInfo(inverse, (~jnp.isfinite(inverse).all(axis=(-2, -1))).astype(jnp.int32))


@rule("torch.linalg.pinv")
def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """The pseudoinverse: singular values up to the larger of ``atol`` and ``rtol`` times the largest count as 0."""
    A = hermitian_from(A) if hermitian else A
    if rtol is None:
        rtol = rcond
    if A.size == 0:
        return A.mT
    if atol is None and rtol is None:
        return jnp.linalg.pinv(A, rtol=max(A.shape[-2:]) * jnp.finfo(A.dtype).eps)
    if atol is None:
        return jnp.linalg.pinv(A, rtol=rtol)
    largest = lax.stop_gradient(jnp.linalg.svdvals(A)).max(axis=-1, initial=0)
    return jnp.linalg.pinv(A, rtol=cutoff(A, largest, atol, rtol) / largest)


@rule("torch.pinverse", "torch.Tensor.pinverse")
def pinverse(input, rcond=1e-15):
    return jnp.linalg.pinv(input, rtol=rcond)


def hermitian_from(A, UPLO="L"):
    """The Hermitian matrix with the lower ("L") or upper triangle of A; the gradient goes to both triangles."""
    triangle = jnp.tril(A, -1) if UPLO == "L" else jnp.triu(A, 1)
    whole = triangle + triangle.conj().mT + A.real * jnp.eye(A.shape[-1], dtype=A.dtype)
    symmetric = (A + A.conj().mT) / 2
    return symmetric + lax.stop_gradient(whole - symmetric)


def hermitian_gradient(A):
    """A, whose gradient torch spreads over both triangles although only one is read."""
    symmetric = (A + A.conj().mT) / 2
    return symmetric + lax.stop_gradient(A - symmetric)


def cutoff(A, largest, atol=None, rtol=None):
    """What counts as 0 in A: the larger of ``atol`` and ``rtol`` times the largest singular value."""
    absolute = jnp.asarray(0 if atol is None else atol, largest.dtype)
    if rtol is None:
        rtol = jnp.where(absolute > 0, 0, max(A.shape[-2:]) * jnp.finfo(A.dtype).eps)
    return jnp.maximum(absolute, rtol * largest)


@rule("torch.linalg.matrix_rank")
def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None):
    """How many singular values of A exceed both ``atol`` and ``rtol`` times the largest."""
    size = jnp.linalg.svdvals(hermitian_from(A) if hermitian else A)
    zero = cutoff(A, size.max(axis=-1, initial=0), tol if atol is None else atol, rtol)
    return (size > zero[..., None]).sum(axis=-1)


@rule("torch.linalg.det", "torch.det", "torch.Tensor.det")
def det(A):
    return jnp.linalg.det(A)


@rule("torch.linalg.slogdet", "torch.slogdet", "torch.Tensor.slogdet")
def slogdet(A):
    return jnp.linalg.slogdet(A)


@rule("torch.logdet", "torch.Tensor.logdet")
def logdet(input):
    """The logarithm of the determinant; NaN where that is negative."""
    sign, size = jnp.linalg.slogdet(input)
    if jnp.iscomplexobj(sign):
        return size + jnp.log(sign)
    return jnp.where(sign < 0, jnp.nan, size)


@rule("torch.linalg.cond")
def cond(input, p=None):
    return jnp.linalg.cond(input, p)


@rule("torch.matrix_exp", "torch.Tensor.matrix_exp", "torch.linalg.matrix_exp")
def matrix_exp(input):
    """``exp(A)`` as the square, many times over, of the exponential of a small part of A."""
    # expm has fewer squarings than its approximation needs, since it rounds their number down: in float32, matrices of
    # norm 60 lose three digits. Given no norm above 3.9 it has none of its own.
    norm = jnp.abs(lax.stop_gradient(input)).sum(axis=-2).max(axis=-1, initial=0)
    squarings = jnp.ceil(jnp.log2(jnp.maximum(norm / 3.9, 1)))[..., None, None]

    def square(power, i):
        return jnp.where(i < squarings, jnp.matmul(power, power, precision=lax.Precision.HIGHEST), power), None

    return lax.scan(square, jax.scipy.linalg.expm(input / 2**squarings), jnp.arange(16))[0]


@rule("torch.linalg.tensorinv")
def tensorinv(A, ind=2):
    return jnp.linalg.tensorinv(A, ind=ind)


@rule("torch.linalg.tensorsolve")
def tensorsolve(A, B, dims=None):
    """X with ``tensordot(A, X, X.ndim) = B``, the axes ``dims`` of A moved to its end first."""
    A = A if dims is None else jnp.moveaxis(A, dims, range(-len(dims), 0))
    return jnp.linalg.solve(A.reshape(B.size, B.size), B.ravel()).reshape(A.shape[B.ndim :])


@rule("torch.linalg.diagonal")
def linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    return jnp.diagonal(A, offset=offset, axis1=dim1, axis2=dim2)


@rule("torch.vander")
def vander(x, N=None, increasing=False):
    return jnp.vander(x, N=N, increasing=increasing)


@rule("torch.linalg.vander")
def linalg_vander(x, *, N=None):
    """Powers 0 to N - 1 of each element, on a new last axis."""
    x = jnp.atleast_1d(x)
    return x[..., None] ** jnp.arange(x.shape[-1] if N is None else N)


@rule("torch.lobpcg")
def lobpcg(A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None):
    raise Unsupported("lobpcg stops where its own iteration says: use torch.linalg.eigh")


@rule("torch.hash_tensor")
def hash_tensor(input, dim=(), *, keepdim=False, mode=0):
    raise Unsupported("hash_tensor depends on torch's bytes: compare the arrays")
