"""Distributions of probabilities: Dirichlet and beta."""

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import layer

from .distribution import Distribution, broadcast_all


@layer("torch.distributions.Dirichlet", "torch.distributions.dirichlet.Dirichlet")
class Dirichlet(Distribution):
    """Vectors of probabilities on the last axis, with these concentrations."""

    def __init__(self, concentration, validate_args=None):
        self.concentration = concentration

    @property
    def batch_shape(self):
        return self.concentration.shape[:-1]

    @property
    def event_shape(self):
        return self.concentration.shape[-1:]

    @property
    def total(self):
        return self.concentration.sum(axis=-1)

    @property
    def mean(self):
        return self.concentration / self.total[..., None]

    @property
    def mode(self):
        """Where every concentration is below 1, the first corner, as in torch."""
        excess = jnp.where(self.concentration < 1, 0, self.concentration - 1)
        below = (self.concentration < 1).all(axis=-1, keepdims=True)
        mode = excess / jnp.where(below, 1, excess.sum(axis=-1, keepdims=True))
        corner = jax.nn.one_hot(mode.argmax(axis=-1), mode.shape[-1], dtype=mode.dtype)
        return jnp.where(below, corner, mode)

    @property
    def variance(self):
        total = self.total[..., None]
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    def rsample(self, sample_shape=(), *, key):
        return jax.random.dirichlet(
            key, self.concentration, (*sample_shape, *self.batch_shape), self.concentration.dtype
        )

    def log_prob(self, value):
        powers = jax.scipy.special.xlogy(self.concentration - 1, value).sum(axis=-1)
        return powers + lax.lgamma(self.total) - lax.lgamma(self.concentration).sum(axis=-1)

    def entropy(self):
        k = self.concentration.shape[-1]
        normalizer = lax.lgamma(self.concentration).sum(axis=-1) - lax.lgamma(self.total)
        spread = ((self.concentration - 1) * lax.digamma(self.concentration)).sum(axis=-1)
        return normalizer - (k - self.total) * lax.digamma(self.total) - spread

    def divergence(self, other):
        logs = lax.digamma(self.concentration) - lax.digamma(self.total)[..., None]
        gammas = (lax.lgamma(self.concentration) - lax.lgamma(other.concentration)).sum(axis=-1)
        shift = ((self.concentration - other.concentration) * logs).sum(axis=-1)
        return lax.lgamma(self.total) - lax.lgamma(other.total) - gammas + shift


@layer("torch.distributions.Beta", "torch.distributions.beta.Beta")
class Beta(Distribution):
    """Probabilities of an event seen ``concentration1 - 1`` times and missed ``concentration0 - 1`` times."""

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)

    @property
    def batch_shape(self):
        return self.concentration1.shape

    @property
    def dirichlet(self):
        """The distribution of the probability and of its complement."""
        return Dirichlet(jnp.stack([self.concentration1, self.concentration0], axis=-1))

    @property
    def mean(self):
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self):
        return self.dirichlet.mode[..., 0]

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total**2 * (total + 1))

    def rsample(self, sample_shape=(), *, key):
        return self.dirichlet.rsample(sample_shape, key=key)[..., 0]

    def log_prob(self, value):
        return self.dirichlet.log_prob(jnp.stack([value, 1 - value], axis=-1))

    def entropy(self):
        return self.dirichlet.entropy()

    def divergence(self, other):
        return self.dirichlet.divergence(other.dirichlet)
