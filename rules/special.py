"""Special functions: error, gamma and normal-distribution functions and their relatives."""

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import rule

from .rounding import clamp


@rule("torch.erf", "torch.special.erf", "torch.Tensor.erf")
def erf(input):
    return jax.scipy.special.erf(input)


@rule("torch.erfc", "torch.special.erfc", "torch.Tensor.erfc")
def erfc(input):
    return jax.scipy.special.erfc(input)


@rule("torch.erfinv", "torch.special.erfinv", "torch.Tensor.erfinv")
def erfinv(input):
    return jax.scipy.special.erfinv(input)


@rule("torch.special.erfcx")
def erfcx(input):
    return jax.scipy.special.erfcx(input)


@rule("torch.lgamma", "torch.special.gammaln", "torch.Tensor.lgamma")
def lgamma(input):
    return jax.scipy.special.gammaln(input)


@rule("torch.digamma", "torch.special.digamma", "torch.special.psi", "torch.Tensor.digamma")
def digamma(input):
    return jax.scipy.special.digamma(input)


@rule("torch.polygamma", "torch.special.polygamma")
def polygamma(n, input):
    return jax.scipy.special.polygamma(n, input)


@rule("torch.Tensor.polygamma")
def polygamma_method(input, n):
    return polygamma(n, input)


@rule("torch.mvlgamma", "torch.special.multigammaln", "torch.Tensor.mvlgamma")
def mvlgamma(input, p):
    return jax.scipy.special.multigammaln(input, p)


@rule("torch.igamma", "torch.special.gammainc", "torch.Tensor.igamma")
def igamma(input, other):
    return jax.scipy.special.gammainc(input, other)


@rule("torch.igammac", "torch.special.gammaincc", "torch.Tensor.igammac")
def igammac(input, other):
    return jax.scipy.special.gammaincc(input, other)


@rule("torch.special.zeta")
def zeta(input, other):
    return jax.scipy.special.zeta(input, other)


@rule("torch.xlogy", "torch.special.xlogy", "torch.Tensor.xlogy")
def xlogy(input, other):
    return jax.scipy.special.xlogy(input, other)


@rule("torch.special.xlog1py")
def xlog1py(input, other):
    return jax.scipy.special.xlog1py(input, other)


@rule("torch.special.entr")
def entr(input):
    return jax.scipy.special.entr(input)


@rule("torch.special.ndtr")
def ndtr(input):
    return jax.scipy.special.ndtr(input)


@rule("torch.special.ndtri")
def ndtri(input):
    return jax.scipy.special.ndtri(input)


@rule("torch.special.log_ndtr")
def log_ndtr(input):
    return jax.scipy.special.log_ndtr(input)


@rule("torch.logit", "torch.special.logit", "torch.Tensor.logit")
def logit(input, eps=None):
    if eps is None:
        return jax.scipy.special.logit(input)
    return jax.scipy.special.logit(clamp(input, eps, 1 - eps))
