"""Factors of matrices that are symmetric, but not positive definite: LDL, by the method of Bunch and Kaufman."""

import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import rule


class LDLFactor(NamedTuple):
    """L and D in one matrix, and how rows were exchanged: as LAPACK's sytrf has them."""

    LD: jax.Array
    pivots: jax.Array


class LDLFactorInfo(NamedTuple):
    """The same, and the first place, counted from 1, at which D is 0; 0 where there is none."""

    LD: jax.Array
    pivots: jax.Array
    info: jax.Array


@rule("torch.linalg.ldl_factor")
def ldl_factor(A, *, hermitian=False):
    LD, pivots, _ = ldl_factor_ex(A, hermitian=hermitian)
    return LDLFactor(LD, pivots)


@rule("torch.linalg.ldl_factor_ex")
def ldl_factor_ex(A, *, hermitian=False, check_errors=False):
    """``A = L @ D @ L.mT`` (``L.conj().mT`` if hermitian) with blocks of one or two on D's diagonal."""
    factor = functools.partial(bunch_kaufman, hermitian=hermitian)
    return LDLFactorInfo(*jnp.vectorize(factor, signature="(n,n)->(n,n),(n),()")(A))


def bunch_kaufman(A, hermitian):
    """LD, pivots and info of one matrix, whose lower triangle counts."""
    n, rows = len(A), jnp.arange(len(A))
    if n == 0:
        return A, jnp.zeros(0, jnp.int32), jnp.zeros((), jnp.int32)
    conj = jnp.conj if hermitian else lambda x: x
    size = lambda x: jnp.abs(x.real) + jnp.abs(x.imag)
    below = jnp.tril(A, -1)
    diagonal = jnp.diag(A).real.astype(A.dtype) if hermitian else jnp.diag(A)
    threshold = (1 + math.sqrt(17)) / 8

    def step(carry):
        k, rest, LD, pivots, info = carry
        # which row comes first, and whether it does alone
        column = jnp.where(rows > k, size(rest[:, k]), 0)
        largest, farthest = column.max(), column.argmax()
        others = jnp.where((rows >= k) & (rows != farthest), size(rest[:, farthest]), 0).max()
        corner = size(rest[k, k])
        zero = (jnp.maximum(corner, largest) == 0) | jnp.isnan(corner)
        stays = zero | (corner >= threshold * largest) | (corner * others >= threshold * largest * largest)
        single = stays | (size(rest[farthest, farthest]) >= threshold * others)
        chosen, last = jnp.where(stays, k, farthest), jnp.where(single, k, k + 1)
        order = exchanged(rows, last, chosen)
        rest = rest[order][:, order]

        # the part of L below one entry of D, or below a block of two
        d = jnp.where(zero, 1, rest[k, k])
        x = jnp.where(rows > last, rest[:, k], 0)
        y = jnp.where((rows > last) & ~single, rest[:, k + 1], 0)
        block = jnp.stack([jnp.stack([d, conj(rest[k + 1, k])]), jnp.stack([rest[k + 1, k], rest[k + 1, k + 1]])])
        block = jnp.where(single, jnp.diag(jnp.stack([d, jnp.ones_like(d)])), block)
        both = jnp.stack([x, y], axis=1)
        L = jnp.linalg.solve(block.T, both.T).T
        rest = rest - jnp.where(zero, 0, L @ conj(both).T)

        first = jnp.where(rows > last, L[:, 0], jnp.where(rows >= k, rest[:, k], LD[:, k]))
        second = jnp.where(rows > last, L[:, 1], jnp.where(rows > k, rest[:, k + 1], LD[:, k + 1]))
        LD = LD.at[:, k].set(first)
        LD = LD.at[:, k + 1].set(jnp.where(single, LD[:, k + 1], second), mode="drop")
        pivot = jnp.where(single, chosen + 1, -chosen - 1).astype(jnp.int32)
        pivots = jnp.where((rows >= k) & (rows <= last), pivot, pivots)
        return last + 1, rest, LD, pivots, jnp.where(zero & (info == 0), k + 1, info).astype(jnp.int32)

    rest = below + conj(below).T + jnp.diag(diagonal)
    start = jnp.zeros((), int), rest, jnp.zeros_like(A), jnp.zeros(n, jnp.int32), jnp.zeros((), jnp.int32)
    return lax.while_loop(lambda carry: carry[0] < n, step, start)[2:]


def exchanged(rows, a, b):
    """The order of rows in which two have changed places."""
    return jnp.where(rows == a, b, jnp.where(rows == b, a, rows))


@rule("torch.linalg.ldl_solve")
def ldl_solve(LD, pivots, B, *, hermitian=False):
    """X with ``A @ X = B``, for the A that ldl_factor took apart."""
    solve = functools.partial(solve_indefinite, hermitian=hermitian)
    return jnp.vectorize(solve, signature="(n,n),(n),(n,k)->(n,k)")(LD, pivots, B)


def solve_indefinite(LD, pivots, B, hermitian):
    """The solution for one matrix: through L, D and the transpose of L, with the exchanges in between."""
    n, rows = len(LD), jnp.arange(len(LD))
    if n == 0:
        return B
    conj = jnp.conj if hermitian else lambda x: x
    negative = pivots < 0
    # negative pivots come in pairs: these are the first of each
    opens = negative & (jnp.cumsum(negative) % 2 == 1)
    closes = negative & ~opens
    last = rows + opens
    L = jnp.where(rows[:, None] > jnp.where(closes, rows, last), LD, 0)
    below = jnp.diag(jnp.where(opens, jnp.diag(jnp.roll(LD, -1, axis=0)), 0)[: n - 1], -1)
    D = jnp.diag(jnp.diag(LD)) + below + conj(below).T

    def exchange(k, B):
        return jnp.where(closes[k], B, B[exchanged(rows, last[k], jnp.abs(pivots[k]) - 1)])

    def forward(k, B):
        return (B := exchange(k, B)) - jnp.outer(L[:, k], B[k])

    def backward(i, B):
        k = n - 1 - i
        return exchange(k, B.at[k].add(-(conj(L[:, k]) @ B)))

    return lax.fori_loop(0, n, backward, jnp.linalg.solve(D, lax.fori_loop(0, n, forward, B)))
