"""Distributions on intervals: uniform, exponential, gamma, beta."""

import math

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import layer

from .distribution import Distribution, broadcast_all


@layer("torch.distributions.Uniform", "torch.distributions.uniform.Uniform")
class Uniform(Distribution):
    """Uniform from ``low`` to ``high``."""

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast_all(low, high)

    @property
    def batch_shape(self):
        return self.low.shape

    @property
    def mean(self):
        return (self.high + self.low) / 2

    @property
    def mode(self):
        return jnp.full_like(self.high, jnp.nan)

    @property
    def stddev(self):
        return (self.high - self.low) / math.sqrt(12)

    @property
    def variance(self):
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape=(), *, key):
        noise = jax.random.uniform(key, self.extended_shape(sample_shape), self.low.dtype)
        return self.low + noise * (self.high - self.low)

    def log_prob(self, value):
        inside = (self.low <= value) & (value < self.high)
        return jnp.where(inside, -jnp.log(self.high - self.low), -jnp.inf)

    def cdf(self, value):
        share = (value - self.low) / (self.high - self.low)
        return jnp.where(share < 0, 0, jnp.where(share > 1, 1, share))

    def icdf(self, value):
        return value * (self.high - self.low) + self.low

    def entropy(self):
        return jnp.log(self.high - self.low)

    def divergence(self, other):
        outside = (other.low > self.low) | (other.high < self.high)
        return jnp.where(outside, jnp.inf, jnp.log((other.high - other.low) / (self.high - self.low)))


@layer("torch.distributions.Exponential", "torch.distributions.exponential.Exponential")
class Exponential(Distribution):
    """Waiting times of events that come ``rate`` times per unit."""

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)

    @property
    def batch_shape(self):
        return self.rate.shape

    @property
    def mean(self):
        return 1 / self.rate

    @property
    def mode(self):
        return jnp.zeros_like(self.rate)

    @property
    def stddev(self):
        return 1 / self.rate

    @property
    def variance(self):
        return self.rate**-2

    def rsample(self, sample_shape=(), *, key):
        return jax.random.exponential(key, self.extended_shape(sample_shape), self.rate.dtype) / self.rate

    def log_prob(self, value):
        return jnp.log(self.rate) - self.rate * value

    def cdf(self, value):
        return 1 - jnp.exp(-self.rate * value)

    def icdf(self, value):
        return -jnp.log1p(-value) / self.rate

    def entropy(self):
        return 1 - jnp.log(self.rate)

    def divergence(self, other):
        ratio = other.rate / self.rate
        return ratio - jnp.log(ratio) - 1


@layer("torch.distributions.Gamma", "torch.distributions.gamma.Gamma")
class Gamma(Distribution):
    """Gamma with this shape (``concentration``) and inverse scale (``rate``)."""

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)

    @property
    def batch_shape(self):
        return self.rate.shape

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return jnp.where(self.concentration < 1, 0, (self.concentration - 1) / self.rate)

    @property
    def variance(self):
        return self.concentration / self.rate**2

    def rsample(self, sample_shape=(), *, key):
        shape, dtype = self.extended_shape(sample_shape), self.rate.dtype
        draws = jax.random.gamma(key, self.concentration, shape, dtype) / self.rate
        tiny = jnp.finfo(dtype).tiny
        return draws + lax.stop_gradient(jnp.maximum(draws, tiny) - draws)  # log_prob of 0 would be infinite

    def log_prob(self, value):
        power = jax.scipy.special.xlogy(self.concentration - 1, value)
        normalizer = jax.scipy.special.xlogy(self.concentration, self.rate) - lax.lgamma(self.concentration)
        return normalizer + power - self.rate * value

    def cdf(self, value):
        return jax.scipy.special.gammainc(self.concentration, self.rate * value)

    def entropy(self):
        shape = self.concentration
        return shape - jnp.log(self.rate) + lax.lgamma(shape) + (1 - shape) * lax.digamma(shape)

    def divergence(self, other):
        rates = other.concentration * jnp.log(self.rate / other.rate)
        gammas = lax.lgamma(other.concentration) - lax.lgamma(self.concentration)
        shapes = (self.concentration - other.concentration) * lax.digamma(self.concentration)
        return rates + gammas + shapes + (other.rate - self.rate) * (self.concentration / self.rate)


@layer("torch.distributions.Chi2", "torch.distributions.chi2.Chi2")
class Chi2(Gamma):
    """The sum of ``df`` squared standard normal numbers."""

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5)

    @property
    def df(self):
        return self.concentration * 2
