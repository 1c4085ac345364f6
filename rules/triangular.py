"""Triangular factors of matrices: LU with its pivots, and the LDL form that JAX lacks."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import Unsupported, rule


class LUFactors(NamedTuple):
    """L and U in one matrix, and the row each row was exchanged with, counted from 1."""

    LU: jax.Array
    pivots: jax.Array


class LUInfo(NamedTuple):
    """The same, and the place of the first 0 on the diagonal of U."""

    LU: jax.Array
    pivots: jax.Array
    info: jax.Array


class PLU(NamedTuple):
    """``P @ L @ U``: a permutation and two triangles."""

    P: jax.Array
    L: jax.Array
    U: jax.Array


@rule("torch.linalg.lu_factor")
def lu_factor(A, *, pivot=True):
    """L and U in one matrix, and the row each row was exchanged with, counted from 1."""
    if not pivot:
        raise Unsupported("LU without pivoting is not in JAX: use pivot=True")
    factors, pivots, _ = lax.linalg.lu(A)
    return LUFactors(factors, pivots + 1)


@rule("torch.linalg.lu_factor_ex")
def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """As lu_factor, and the place from 1 of the first 0 on the diagonal of U, 0 if there is none."""
    factors, pivots = lu_factor(A, pivot=pivot)
    zeros = jnp.diagonal(factors, axis1=-2, axis2=-1) == 0
    return LUInfo(factors, pivots, jnp.where(zeros.any(axis=-1), zeros.argmax(axis=-1) + 1, 0).astype(jnp.int32))


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
    return PLU(P, L, U)
