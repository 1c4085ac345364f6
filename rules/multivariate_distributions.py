"""The multivariate normal distribution, and batches read as one event."""

import math

import jax
import jax.numpy as jnp

from transpile.rule import layer

from .distribution import Distribution
from .factorizations import cholesky


@layer("torch.distributions.MultivariateNormal", "torch.distributions.multivariate_normal.MultivariateNormal")
class MultivariateNormal(Distribution):
    """Normal vectors with mean ``loc`` (..., n) and a covariance, a precision or its Cholesky factor (..., n, n)."""

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if sum(matrix is not None for matrix in (covariance_matrix, precision_matrix, scale_tril)) != 1:
            raise ValueError("give one of covariance_matrix, precision_matrix and scale_tril")
        if scale_tril is None:
            scale_tril = (
                precision_to_scale(precision_matrix) if covariance_matrix is None else cholesky(covariance_matrix)
            )
        batch_shape = jnp.broadcast_shapes(scale_tril.shape[:-2], loc.shape[:-1])
        self.loc = jnp.broadcast_to(loc, (*batch_shape, loc.shape[-1]))
        self.scale_tril = jnp.broadcast_to(scale_tril, (*batch_shape, *scale_tril.shape[-2:]))

    @property
    def batch_shape(self):
        return self.loc.shape[:-1]

    @property
    def event_shape(self):
        return self.loc.shape[-1:]

    @property
    def covariance_matrix(self):
        return self.scale_tril @ self.scale_tril.mT

    @property
    def precision_matrix(self):
        identity = jnp.broadcast_to(jnp.eye(self.loc.shape[-1], dtype=self.loc.dtype), self.scale_tril.shape)
        return jax.scipy.linalg.cho_solve((self.scale_tril, True), identity)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return (self.scale_tril**2).sum(axis=-1)

    def rsample(self, sample_shape=(), *, key):
        noise = jax.random.normal(key, self.extended_shape(sample_shape), self.loc.dtype)
        return self.loc + (self.scale_tril @ noise[..., None])[..., 0]

    def whiten(self, difference):
        """Solves ``scale_tril @ x = difference`` for the vectors of a batch of any shape."""
        shape = jnp.broadcast_shapes(difference.shape[:-1], self.batch_shape)
        scale = jnp.broadcast_to(self.scale_tril, (*shape, *self.scale_tril.shape[-2:]))
        difference = jnp.broadcast_to(difference, (*shape, difference.shape[-1]))
        return jax.scipy.linalg.solve_triangular(scale, difference[..., None], lower=True)[..., 0]

    def half_log_determinant(self):
        """Half the logarithm of the covariance's determinant."""
        return jnp.log(jnp.diagonal(self.scale_tril, axis1=-2, axis2=-1)).sum(axis=-1)

    def log_prob(self, value):
        squares = (self.whiten(value - self.loc) ** 2).sum(axis=-1)
        return -(self.loc.shape[-1] * math.log(2 * math.pi) + squares) / 2 - self.half_log_determinant()

    def entropy(self):
        return self.loc.shape[-1] / 2 * (1 + math.log(2 * math.pi)) + self.half_log_determinant()

    def divergence(self, other):
        columns = other.whiten(jnp.moveaxis(self.scale_tril, -1, 0))
        spread = (columns**2).sum(axis=(0, -1))
        apart = (other.whiten(other.loc - self.loc) ** 2).sum(axis=-1)
        logs = other.half_log_determinant() - self.half_log_determinant()
        return logs + (spread + apart - self.loc.shape[-1]) / 2


def precision_to_scale(precision):
    """The Cholesky factor of a precision matrix's inverse."""
    flipped = cholesky(jnp.flip(precision, (-2, -1)))
    inverse = jnp.flip(flipped, (-2, -1)).mT
    identity = jnp.broadcast_to(jnp.eye(precision.shape[-1], dtype=precision.dtype), precision.shape)
    return jax.scipy.linalg.solve_triangular(inverse, identity, lower=True)


@layer("torch.distributions.Independent", "torch.distributions.independent.Independent")
class Independent(Distribution):
    """A distribution whose last ``reinterpreted_batch_ndims`` batch axes count as axes of one event."""

    static = ("reinterpreted_batch_ndims",)

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims

    @property
    def batch_shape(self):
        shape = self.base_dist.batch_shape
        return shape[: len(shape) - self.reinterpreted_batch_ndims]

    @property
    def event_shape(self):
        return self.base_dist.extended_shape()[len(self.batch_shape) :]

    @property
    def mean(self):
        return self.base_dist.mean

    @property
    def mode(self):
        return self.base_dist.mode

    @property
    def variance(self):
        return self.base_dist.variance

    def sample(self, sample_shape=(), *, key):
        return self.base_dist.sample(sample_shape, key=key)

    def rsample(self, sample_shape=(), *, key):
        return self.base_dist.rsample(sample_shape, key=key)

    def summed(self, values):
        return values.sum(axis=tuple(range(-self.reinterpreted_batch_ndims, 0)))

    def log_prob(self, value):
        return self.summed(self.base_dist.log_prob(value))

    def entropy(self):
        return self.summed(self.base_dist.entropy())

    def divergence(self, other):
        if self.reinterpreted_batch_ndims != other.reinterpreted_batch_ndims:
            raise NotImplementedError("no KL divergence of events of different ranks")
        return self.summed(self.base_dist.kl_divergence(other.base_dist))
