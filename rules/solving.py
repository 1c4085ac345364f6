"""Solutions of linear equations."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import rule

from .linalg import matrix_rank
from .triangular import lu_unpack


class SolveInfo(NamedTuple):
    """A solution, and 1 where the matrix is singular."""

    result: jax.Array
    info: jax.Array


class TriangularSolution(NamedTuple):
    """A solution, and the matrix it is for."""

    solution: jax.Array
    cloned_coefficient: jax.Array


class LeastSquares(NamedTuple):
    """The solution of a least squares problem; which of the rest are empty is the driver's."""

    solution: jax.Array
    residuals: jax.Array
    rank: jax.Array
    singular_values: jax.Array


@rule("torch.linalg.solve", differs={"values nan": "torch gives NaN in places that none of it can reach"})
def solve(A, B, *, left=True):
    """X with ``A @ X = B`` (``X @ A = B`` if not left); B may hold matrices, or one vector for each matrix of A."""
    if B.ndim == 1 or B.shape == A.shape[:-1]:
        return jnp.linalg.solve(A, B[..., None])[..., 0]
    return jnp.linalg.solve(A, B) if left else jnp.linalg.solve(A.mT, B.mT).mT


@rule("torch.linalg.solve_ex")
def solve_ex(A, B, *, left=True, check_errors=False):
    """The solution, and 1 for each matrix that is singular."""
    determinant = jnp.linalg.det(A)
    return SolveInfo(solve(A, B, left=left), (determinant == 0).astype(jnp.int32))


@rule("torch.linalg.solve_triangular")
def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    if left:
        return jax.scipy.linalg.solve_triangular(A, B, lower=not upper, unit_diagonal=unitriangular)
    return jax.scipy.linalg.solve_triangular(A.mT, B.mT, lower=upper, unit_diagonal=unitriangular).mT


@rule("torch.triangular_solve", "torch.Tensor.triangular_solve")
def triangular_solve(input, A, upper=True, transpose=False, unitriangular=False):
    """``X`` with ``A @ X = input``, and A."""
    trans = 1 if transpose else 0
    solution = jax.scipy.linalg.solve_triangular(A, input, lower=not upper, trans=trans, unit_diagonal=unitriangular)
    return TriangularSolution(solution, jnp.broadcast_to(A, solution.shape[:-2] + A.shape[-2:]))


@rule("torch.cholesky_solve", "torch.Tensor.cholesky_solve")
def cholesky_solve(B, L, upper=False):
    return jax.scipy.linalg.cho_solve((L, not upper), B)


@rule("torch.cholesky_inverse", "torch.Tensor.cholesky_inverse")
def cholesky_inverse(L, upper=False):
    return jax.scipy.linalg.cho_solve((L, not upper), jnp.broadcast_to(jnp.eye(L.shape[-1], dtype=L.dtype), L.shape))


@rule("torch.linalg.lu_solve")
def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """X with ``A @ X = B``, ``A* @ X = B``, or A on the right, for the A that lu_factor took apart."""
    if not left:
        return linalg_lu_solve(LU, pivots, B.conj().mT, adjoint=not adjoint).conj().mT
    P, L, U = lu_unpack(LU, pivots)
    solve_triangle = jax.scipy.linalg.solve_triangular
    if adjoint:
        return P @ solve_triangle(L.conj().mT, solve_triangle(U.conj().mT, B, lower=True), unit_diagonal=True)
    return solve_triangle(U, solve_triangle(L, P.mT @ B, lower=True, unit_diagonal=True))


@rule("torch.lu_solve", "torch.Tensor.lu_solve")
def lu_solve(b, LU_data, LU_pivots):
    return linalg_lu_solve(LU_data, LU_pivots, b)


@rule("torch.linalg.lstsq")
def lstsq(A, B, rcond=None, *, driver="gelsy"):
    """``solution, residuals, rank, singular_values`` of the least squares problem; which are empty is the driver's."""
    vectors = B.ndim == 1 or B.ndim == A.ndim - 1 and B.shape == A.shape[:-1]
    columns = B[..., None] if vectors else B
    rcond = max(A.shape[-2:]) * jnp.finfo(A.dtype).eps if rcond is None else rcond
    solution = jnp.linalg.pinv(A, rtol=rcond) @ columns
    residuals = values = jnp.zeros(0, solution.real.dtype)
    rank = jnp.zeros(0, int)
    if driver != "gelsy" and A.shape[-2] > A.shape[-1]:
        residuals = jnp.square(jnp.abs(A @ solution - columns)).sum(axis=-2)
    if driver != "gels":
        rank = matrix_rank(A, rtol=rcond)
    if driver in ("gelsd", "gelss"):
        values = lax.stop_gradient(jnp.linalg.svdvals(A))
    return LeastSquares(solution[..., 0] if vectors else solution, residuals, rank, values)
