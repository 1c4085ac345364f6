"""Distributions on finite sets, given by probabilities or by logits."""

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import layer

from .distribution import Distribution, broadcast_all, logits_to_probs, probs_to_logits


@layer("torch.distributions.Bernoulli", "torch.distributions.bernoulli.Bernoulli")
class Bernoulli(Distribution):
    """1.0 with probability ``probs``, else 0.0; ``logits`` are the logarithms of the odds."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("give either probs or logits")
        if logits is None:
            (self.probs,) = broadcast_all(probs)
            self.logits = probs_to_logits(self.probs, is_binary=True)
        else:
            (self.logits,) = broadcast_all(logits)
            self.probs = logits_to_probs(self.logits, is_binary=True)

    @property
    def batch_shape(self):
        return self.probs.shape

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        return jnp.where(self.probs == 0.5, jnp.nan, (self.probs >= 0.5).astype(self.probs.dtype))

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape=(), *, key):
        draws = jax.random.bernoulli(key, self.probs, self.extended_shape(sample_shape))
        return draws.astype(self.probs.dtype)

    def log_prob(self, value):
        return value * jax.nn.log_sigmoid(self.logits) + (1 - value) * jax.nn.log_sigmoid(-self.logits)

    def entropy(self):
        return -self.log_prob(self.probs)

    def divergence(self, other):
        p, q = self.probs, other.probs
        ones = p * (jax.nn.softplus(-other.logits) - jax.nn.softplus(-self.logits))
        zeros = (1 - p) * (jax.nn.softplus(other.logits) - jax.nn.softplus(self.logits))
        ones = jnp.where(p == 0, 0, jnp.where(q == 0, jnp.inf, ones))
        return ones + jnp.where(p == 1, 0, jnp.where(q == 1, jnp.inf, zeros))


@layer("torch.distributions.Categorical", "torch.distributions.categorical.Categorical")
class Categorical(Distribution):
    """Class numbers, with probabilities on the last axis; ``logits`` are their logarithms."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("give either probs or logits")
        if logits is None:
            self.probs = probs / probs.sum(axis=-1, keepdims=True)
            self.logits = probs_to_logits(self.probs)
        else:
            self.logits = logits - jax.nn.logsumexp(logits, axis=-1, keepdims=True)
            self.probs = logits_to_probs(self.logits)

    @property
    def batch_shape(self):
        return self.logits.shape[:-1]

    @property
    def param_shape(self):
        return self.logits.shape

    @property
    def mean(self):
        return jnp.full(self.batch_shape, jnp.nan, self.probs.dtype)

    @property
    def variance(self):
        return jnp.full(self.batch_shape, jnp.nan, self.probs.dtype)

    @property
    def mode(self):
        return self.probs.argmax(axis=-1)

    def sample(self, sample_shape=(), *, key):
        # not self.logits: those keep impossible classes just possible
        return jax.random.categorical(key, jnp.log(self.probs), shape=(*sample_shape, *self.batch_shape))

    def log_prob(self, value):
        value = value.astype(int)
        shape = jnp.broadcast_shapes(value.shape, self.batch_shape)
        logits = jnp.broadcast_to(self.logits, (*shape, self.logits.shape[-1]))
        return jnp.take_along_axis(logits, jnp.broadcast_to(value, shape)[..., None], axis=-1)[..., 0]

    def entropy(self):
        least = jnp.finfo(self.logits.dtype).min
        return -(jnp.where(self.logits < least, least, self.logits) * self.probs).sum(axis=-1)

    def divergence(self, other):
        terms = self.probs * (self.logits - other.logits)
        terms = jnp.where(self.probs == 0, 0, jnp.where(other.probs == 0, jnp.inf, terms))
        return terms.sum(axis=-1)


@layer("torch.distributions.OneHotCategorical", "torch.distributions.one_hot_categorical.OneHotCategorical")
class OneHotCategorical(Distribution):
    """As Categorical, the class marked by a 1.0 on the last axis."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        self.categorical = Categorical(probs, logits)

    @property
    def probs(self):
        return self.categorical.probs

    @property
    def logits(self):
        return self.categorical.logits

    @property
    def batch_shape(self):
        return self.categorical.batch_shape

    @property
    def event_shape(self):
        return self.probs.shape[-1:]

    @property
    def mean(self):
        return self.probs

    @property
    def mode(self):
        return self.one_hot(self.categorical.mode)

    @property
    def variance(self):
        return self.probs * (1 - self.probs)

    def one_hot(self, index):
        return jax.nn.one_hot(index, self.probs.shape[-1], dtype=self.probs.dtype)

    def sample(self, sample_shape=(), *, key):
        return self.one_hot(self.categorical.sample(sample_shape, key=key))

    def log_prob(self, value):
        return self.categorical.log_prob(value.argmax(axis=-1))

    def entropy(self):
        return self.categorical.entropy()

    def divergence(self, other):
        return self.categorical.divergence(other.categorical)


@layer(
    "torch.distributions.OneHotCategoricalStraightThrough",
    "torch.distributions.one_hot_categorical.OneHotCategoricalStraightThrough",
)
class OneHotCategoricalStraightThrough(OneHotCategorical):
    """As OneHotCategorical; the gradient of a draw is that of the probabilities."""

    def rsample(self, sample_shape=(), *, key):
        return self.sample(sample_shape, key=key) + (self.probs - lax.stop_gradient(self.probs))
