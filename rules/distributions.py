"""Normal and other distributions with a location and a scale."""

import math

import jax
import jax.numpy as jnp
import numpy as np

from transpile.rule import layer

from .distribution import Distribution, broadcast_all


@layer()  # no class of torch
class LocationScale(Distribution):
    """Parameters ``loc`` and ``scale`` of one shape."""

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)

    @property
    def batch_shape(self):
        return self.loc.shape

    def standardized(self, value):
        return (value - self.loc) / self.scale


@layer("torch.distributions.Normal", "torch.distributions.normal.Normal")
class Normal(LocationScale):
    """The normal distribution; ``scale`` is the standard deviation."""

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return self.scale

    @property
    def variance(self):
        return self.scale**2

    def rsample(self, sample_shape=(), *, key):
        noise = jax.random.normal(key, self.extended_shape(sample_shape), self.loc.dtype)
        return self.loc + self.scale * noise

    def log_prob(self, value):
        return -(self.standardized(value) ** 2) / 2 - jnp.log(self.scale) - math.log(2 * math.pi) / 2

    def cdf(self, value):
        return (1 + jax.lax.erf(self.standardized(value) / math.sqrt(2))) / 2

    def icdf(self, value):
        return self.loc + self.scale * math.sqrt(2) * jax.lax.erf_inv(2 * value - 1)

    def entropy(self):
        return 0.5 + math.log(2 * math.pi) / 2 + jnp.log(self.scale)

    def divergence(self, other):
        ratio = (self.scale / other.scale) ** 2
        return (ratio + ((self.loc - other.loc) / other.scale) ** 2 - 1 - jnp.log(ratio)) / 2


@layer("torch.distributions.LogNormal", "torch.distributions.log_normal.LogNormal")
class LogNormal(LocationScale):
    """Its logarithm is normal, with mean ``loc`` and standard deviation ``scale``."""

    @property
    def normal(self):
        return Normal(self.loc, self.scale)

    @property
    def mean(self):
        return jnp.exp(self.loc + self.scale**2 / 2)

    @property
    def mode(self):
        return jnp.exp(self.loc - self.scale**2)

    @property
    def variance(self):
        return jnp.expm1(self.scale**2) * jnp.exp(2 * self.loc + self.scale**2)

    def rsample(self, sample_shape=(), *, key):
        return jnp.exp(self.normal.rsample(sample_shape, key=key))

    def log_prob(self, value):
        return self.normal.log_prob(jnp.log(value)) - jnp.log(value)

    def cdf(self, value):
        return self.normal.cdf(jnp.log(value))

    def icdf(self, value):
        return jnp.exp(self.normal.icdf(value))

    def entropy(self):
        return self.normal.entropy() + self.loc

    def divergence(self, other):
        return self.normal.divergence(other.normal)


@layer("torch.distributions.Laplace", "torch.distributions.laplace.Laplace")
class Laplace(LocationScale):
    """Exponential on both sides of ``loc``."""

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return math.sqrt(2) * self.scale

    @property
    def variance(self):
        return 2 * self.scale**2

    def rsample(self, sample_shape=(), *, key):
        return self.loc + self.scale * jax.random.laplace(key, self.extended_shape(sample_shape), self.loc.dtype)

    def log_prob(self, value):
        return -jnp.log(2 * self.scale) - distance(value, self.loc) / self.scale

    def cdf(self, value):
        return 0.5 - jnp.sign(value - self.loc) * jnp.expm1(-distance(value, self.loc) / self.scale) / 2

    def icdf(self, value):
        return self.loc - self.scale * jnp.sign(value - 0.5) * jnp.log1p(-2 * distance(value, 0.5))

    def entropy(self):
        return 1 + jnp.log(2 * self.scale)

    def divergence(self, other):
        ratio, apart = self.scale / other.scale, distance(self.loc, other.loc)
        return -jnp.log(ratio) + apart / other.scale + ratio * jnp.exp(-apart / self.scale) - 1


def distance(x, y):
    """``abs(x - y)``, with the gradient 0 where they are equal."""
    return jnp.where(x == y, 0, jnp.abs(x - y))


@layer("torch.distributions.Gumbel", "torch.distributions.gumbel.Gumbel")
class Gumbel(LocationScale):
    """The largest of many."""

    @property
    def mean(self):
        return self.loc + self.scale * np.euler_gamma

    @property
    def mode(self):
        return self.loc

    @property
    def stddev(self):
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self):
        return self.stddev**2

    def rsample(self, sample_shape=(), *, key):
        return self.loc + self.scale * jax.random.gumbel(key, self.extended_shape(sample_shape), self.loc.dtype)

    def log_prob(self, value):
        y = self.standardized(value)
        return -y - jnp.exp(-y) - jnp.log(self.scale)

    def cdf(self, value):
        return jnp.exp(-jnp.exp(-self.standardized(value)))

    def icdf(self, value):
        return self.loc - self.scale * jnp.log(-jnp.log(value))

    def entropy(self):
        return jnp.log(self.scale) + 1 + np.euler_gamma


@layer("torch.distributions.Cauchy", "torch.distributions.cauchy.Cauchy")
class Cauchy(LocationScale):
    """Without mean or variance: these are NaN and inf."""

    @property
    def mean(self):
        return jnp.full_like(self.loc, jnp.nan)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return jnp.full_like(self.loc, jnp.inf)

    def rsample(self, sample_shape=(), *, key):
        return self.loc + self.scale * jax.random.cauchy(key, self.extended_shape(sample_shape), self.loc.dtype)

    def log_prob(self, value):
        return -math.log(math.pi) - jnp.log(self.scale) - jnp.log1p(self.standardized(value) ** 2)

    def cdf(self, value):
        return jnp.arctan(self.standardized(value)) / math.pi + 0.5

    def icdf(self, value):
        return jnp.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + jnp.log(self.scale)

    def divergence(self, other):
        apart = (self.scale + other.scale) ** 2 + (self.loc - other.loc) ** 2
        return jnp.log(apart) - jnp.log(4 * self.scale * other.scale)


@layer("torch.distributions.StudentT", "torch.distributions.studentT.StudentT")
class StudentT(Distribution):
    """Student's t with ``df`` degrees of freedom, moved by ``loc`` and stretched by ``scale``."""

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)

    @property
    def batch_shape(self):
        return self.df.shape

    @property
    def mean(self):
        return jnp.where(self.df <= 1, jnp.nan, self.loc)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        finite = self.df > 2
        variance = self.scale**2 * self.df / jnp.where(finite, self.df - 2, 1)
        return jnp.where(self.df <= 1, jnp.nan, jnp.where(finite, variance, jnp.inf))

    def rsample(self, sample_shape=(), *, key):
        return self.loc + self.scale * jax.random.t(key, self.df, self.extended_shape(sample_shape), self.df.dtype)

    def log_prob(self, value):
        y = (value - self.loc) / self.scale
        gammas = jax.lax.lgamma(self.df / 2) - jax.lax.lgamma((self.df + 1) / 2)
        normalizer = jnp.log(self.scale) + jnp.log(self.df * math.pi) / 2 + gammas
        return -(self.df + 1) / 2 * jnp.log1p(y**2 / self.df) - normalizer

    def entropy(self):
        half, next_half = self.df / 2, (self.df + 1) / 2
        beta = jax.lax.lgamma(half) + math.lgamma(0.5) - jax.lax.lgamma(next_half)
        spread = next_half * (jax.lax.digamma(next_half) - jax.lax.digamma(half))
        return jnp.log(self.scale) + spread + jnp.log(self.df) / 2 + beta
