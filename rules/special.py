"""Special functions: error, gamma and normal-distribution functions and their relatives."""

import math

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
    """The derivative of lgamma, reflected where x < 0: there the derivatives of JAX's are only good to a percent."""
    negative = input < 0
    angle = math.pi * jnp.where(negative, input - jnp.round(input), 0.5)
    reflected = jax.scipy.special.digamma(jnp.where(negative, 1 - input, input))
    return jnp.where(negative, reflected - math.pi * jnp.cos(angle) / jnp.sin(angle), reflected)


@rule("torch.polygamma", "torch.special.polygamma")
def polygamma(n, input):
    """The n-th derivative of digamma."""
    if n == 0:
        return digamma(input)
    input = jnp.asarray(input, jnp.result_type(input, 1.0))
    return jax.jvp(lambda x: polygamma(n - 1, x), (input,), (jnp.ones_like(input),))[1]


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
    """Hurwitz's zeta function; NaN below 1 as in torch, and for other < 0, where JAX's is inaccurate."""
    return jnp.where((input < 1) | (other < 0), jnp.nan, jax.scipy.special.zeta(input, other))


@rule("torch.xlogy", "torch.special.xlogy", "torch.Tensor.xlogy")
def xlogy(input, other):
    """input * log(other), and 0 where input is 0, without a gradient to it where the log is infinite or NaN."""
    no_log = (input == 0) & (other <= 0)
    return jax.scipy.special.xlogy(jnp.where(no_log, lax.stop_gradient(input), input), other)


@rule("torch.special.xlog1py")
def xlog1py(input, other):
    """input * log(1 + other), and 0 where input is 0, without a gradient to it where the log is infinite or NaN."""
    no_log = (input == 0) & (other <= -1)
    return jax.scipy.special.xlog1py(jnp.where(no_log, lax.stop_gradient(input), input), other)


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
