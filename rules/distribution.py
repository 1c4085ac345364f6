"""What all probability distributions share: shapes, sampling, the two ways to give probabilities."""

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import Unsupported, layer, rule


@layer("torch.distributions.Distribution", "torch.distributions.distribution.Distribution")
class Distribution:
    """A probability distribution, and a pytree of its parameters, so that it can pass through jit and vmap.

    Samples have the shape ``sample_shape + batch_shape + event_shape``; ``log_prob`` has one number for each event.
    ``validate_args`` is taken and ignored: under jit no value can be looked at.
    """

    event_shape = ()
    static = ()  # names of the attributes that are no arrays

    def __init_subclass__(cls):
        def flatten(distribution):
            fields = vars(distribution)
            names = tuple(name for name in fields if name not in cls.static)
            return [fields[name] for name in names], (names, tuple((name, fields[name]) for name in cls.static))

        def unflatten(auxiliary, values):
            names, static = auxiliary
            distribution = object.__new__(cls)
            vars(distribution).update(zip(names, values), **dict(static))
            return distribution

        jax.tree_util.register_pytree_node(cls, flatten, unflatten)

    def expand(self, batch_shape):
        """The same distribution, its parameters repeated to this batch shape."""
        rank = len(self.batch_shape)
        return jax.tree.map(lambda x: jnp.broadcast_to(x, (*batch_shape, *x.shape[rank:])), self)

    def extended_shape(self, sample_shape=()):
        return (*sample_shape, *self.batch_shape, *self.event_shape)

    def sample(self, sample_shape=(), *, key):
        """Draws through which no gradient passes."""
        return lax.stop_gradient(self.rsample(sample_shape, key=key))

    @property
    def stddev(self):
        return jnp.sqrt(self.variance)

    def perplexity(self):
        return jnp.exp(self.entropy())

    def kl_divergence(self, other):
        """The Kullback-Leibler divergence of this distribution from another of its kind."""
        if type(self) is not type(other):
            raise NotImplementedError(f"no KL divergence of {type(self).__name__} from {type(other).__name__}")
        return self.divergence(other)


@rule("torch.distributions.kl_divergence", "torch.distributions.kl.kl_divergence")
def kl_divergence(p, q):
    return p.kl_divergence(q)


@rule("torch.distributions.utils.broadcast_all")
def broadcast_all(*values):
    """The numbers and arrays as arrays of one shape and one float dtype."""
    dtype = jnp.result_type(float, *values)
    return jnp.broadcast_arrays(*(jnp.asarray(value, dtype) for value in values))


@rule("torch.distributions.utils.clamp_probs")
def clamp_probs(probs):
    """Kept off 0 and 1 by the dtype's eps, so that logarithms are finite."""
    eps = jnp.finfo(probs.dtype).eps
    return jnp.where(probs < eps, eps, jnp.where(probs > 1 - eps, 1 - eps, probs))


@rule("torch.distributions.utils.probs_to_logits")
def probs_to_logits(probs, is_binary=False):
    """Logarithms of the probabilities, or of the odds of a binary event."""
    probs = clamp_probs(probs)
    return jnp.log(probs) - jnp.log1p(-probs) if is_binary else jnp.log(probs)


@rule("torch.distributions.utils.logits_to_probs")
def logits_to_probs(logits, is_binary=False):
    if is_binary:
        return jax.nn.sigmoid(logits)
    return jax.nn.softmax(logits, axis=-1)


@rule(
    "torch.distributions.TransformedDistribution",
    "torch.distributions.transformed_distribution.TransformedDistribution",
)
def transformed_distribution(base_distribution, transforms, validate_args=None):
    raise Unsupported("TransformedDistribution: write log_prob and rsample with the transform's own formula")
