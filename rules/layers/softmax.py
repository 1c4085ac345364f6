"""Softmax layers, and a softmax over many classes of very different frequency."""

import functools
import itertools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from transpile.layer import Module, layer

from ..softmax import in_float32, softmax_axis
from .containers import ModuleList, Sequential
from .linear import Linear


@layer("torch.nn.Softmax")
class Softmax(Module):
    """Softmax over one axis."""

    def __init__(self, dim=None):
        self.dim = dim

    def __call__(self, input):
        return in_float32(
            functools.partial(jax.nn.softmax, axis=softmax_axis(input, self.dim)), input
        )


@layer("torch.nn.Softmin")
class Softmin(Module):
    """Softmax of -x over one axis."""

    def __init__(self, dim=None):
        self.dim = dim

    def __call__(self, input):
        return in_float32(
            functools.partial(jax.nn.softmax, axis=softmax_axis(input, self.dim)), -input
        )


@layer("torch.nn.Softmax2d")
class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def __call__(self, input):
        return in_float32(functools.partial(jax.nn.softmax, axis=-3), input)


@layer("torch.nn.LogSoftmax")
class LogSoftmax(Module):
    """The logarithm of softmax over one axis."""

    def __init__(self, dim=None):
        self.dim = dim

    def __call__(self, input):
        return in_float32(
            functools.partial(jax.nn.log_softmax, axis=softmax_axis(input, self.dim)), input
        )


class AdaptiveOutput(NamedTuple):
    """The log-probability of each target, and their negative mean."""

    output: jax.Array
    loss: jax.Array


@layer("torch.nn.AdaptiveLogSoftmaxWithLoss")
class AdaptiveLogSoftmaxWithLoss(Module):
    """Frequent classes stand in the head, and each cluster of rarer ones, with a net of its own.

    Every cluster is computed for every sample, for which ones torch leaves out follows the data.
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False):
        self.in_features, self.n_classes = in_features, n_classes
        self.div_value, self.head_bias = div_value, head_bias
        self.cutoffs = [*cutoffs, n_classes]
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias)
        self.tail = ModuleList([])
        for i, (low, high) in enumerate(itertools.pairwise(self.cutoffs)):
            width = int(in_features // div_value ** (i + 1))
            small, large = Linear(in_features, width, False), Linear(width, high - low, False)
            self.tail.append(Sequential(small, large))

    def log_prob(self, input):
        """Log-probabilities of all classes: (..., n_classes)."""
        head = jax.nn.log_softmax(self.head(input), axis=-1)
        parts = [head[..., : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            own = jax.nn.log_softmax(cluster(input), axis=-1)
            parts.append(own + head[..., self.shortlist_size + i, None])
        return jnp.concatenate(parts, axis=-1)

    def predict(self, input):
        """The likeliest class of each sample."""
        return self.log_prob(input).argmax(axis=-1)

    def __call__(self, input_, target_):
        output = jnp.take_along_axis(self.log_prob(input_), target_[..., None], axis=-1)[..., 0]
        return AdaptiveOutput(output, -output.mean())
