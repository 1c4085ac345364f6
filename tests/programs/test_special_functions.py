"""Functions of matrices and numbers that JAX lacks, or has less precisely than torch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
import torch

from rules.bessel import airy_ai, i0
from rules.indefinite import ldl_factor_ex, ldl_solve
from rules.linalg import matrix_exp

from ..against_torch import float64, to_jax


@pytest.mark.parametrize("norm", [0.1, 3.9, 7, 15, 60])
@pytest.mark.parametrize("skew", [False, True])
def test_matrix_exp_is_as_precise_as_in_torch(norm, skew):
    x = np.random.RandomState(0).randn(100, 5, 5)
    x = x - x.swapaxes(-1, -2) if skew else x
    x = (x * norm / np.abs(x).sum(axis=-2).max(axis=-1)[:, None, None]).astype(np.float32)
    exact = torch.matrix_exp(torch.tensor(x).double()).numpy()
    error = lambda y: (np.abs(np.asarray(y) - exact).max(axis=(1, 2)) / np.abs(exact).max(axis=(1, 2))).mean()
    assert error(jax.jit(matrix_exp)(jnp.asarray(x))) < 2 * error(torch.matrix_exp(torch.tensor(x)))


def test_gradient_of_matrix_exp():
    with float64():
        x = torch.randn(2, 4, 4) * 5
        x.requires_grad_()
        torch.matrix_exp(x).sum().backward()
        slope = jax.grad(lambda a: matrix_exp(a).sum())(jnp.asarray(x.detach().numpy()))
        np.testing.assert_allclose(slope, x.grad, 1e-9)
        assert matrix_exp(jnp.zeros((2, 0, 0))).shape == (2, 0, 0)


def test_gradient_of_bessel_i0_at_0():
    with float64():
        x = torch.tensor([0.0, 1e-9, -1e-3, 2, -9, 30], requires_grad=True)
        torch.special.i0(x).log1p().sum().backward()
        slope = jax.grad(lambda a: jnp.log1p(i0(a)).sum())(jnp.asarray(x.detach().numpy()))
        np.testing.assert_allclose(slope, x.grad, 1e-12, 1e-15)


def test_airy():
    # near -2.09, where torch changes its method, torch is off by 3e-6: scipy is the measure
    with float64():
        x = np.concatenate([np.linspace(-40, 12, 500), [0, 1e-9, -1e-9, 50, 104]])
        np.testing.assert_allclose(airy_ai(jnp.asarray(x)), scipy.special.airy(x)[0], 1e-12, 1e-13)
        assert jnp.isnan(airy_ai(jnp.array([jnp.inf, -jnp.inf, jnp.nan]))).all()


def test_indefinite_matrices_without_elements():
    LD, pivots, info = ldl_factor_ex(jnp.zeros((2, 0, 0)))
    assert (LD.shape, pivots.shape, info.shape) == ((2, 0, 0), (2, 0), (2,))
    assert ldl_solve(LD, pivots, jnp.zeros((2, 0, 3))).shape == (2, 0, 3)


@pytest.mark.parametrize("hermitian", [False, True])
def test_indefinite_matrices(hermitian):
    with float64():
        A = torch.randn(4, 6, 6, dtype=torch.complex128 if hermitian else torch.float64)
        A = A + (A.mH if hermitian else A.mT)
        # blocks of two where the diagonal is 0, blocks of one where it is large; and a matrix that is singular
        A[1].diagonal().zero_()
        A[2].diagonal().add_(9)
        A[3, 2] = A[3, :, 2] = 0
        want = torch.linalg.ldl_factor_ex(A, hermitian=hermitian)
        got = jax.jit(lambda a: ldl_factor_ex(a, hermitian=hermitian))(to_jax(A))
        for g, w in zip(got, want):
            np.testing.assert_allclose(g, w.numpy(), 1e-9, 1e-9)
        B = torch.randn(3, 6, 2, dtype=A.dtype)
        LD, pivots = want.LD[:3], want.pivots[:3]
        solution = torch.linalg.ldl_solve(LD, pivots, B, hermitian=hermitian)
        solve = jax.jit(lambda *given: ldl_solve(*given, hermitian=hermitian))
        np.testing.assert_allclose(solve(to_jax(LD), to_jax(pivots), to_jax(B)), solution.numpy(), 1e-9, 1e-9)
