"""Softmax over many classes of very different frequency."""

import itertools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from transpile.rule import layer

from .linear_layers import Linear
from .module import Module, ModuleList, Sequential


class AdaptiveOutput(NamedTuple):
    """The log-probability of each target, and their negative mean."""

    output: jax.Array
    loss: jax.Array


@layer("torch.nn.AdaptiveLogSoftmaxWithLoss")
class AdaptiveLogSoftmaxWithLoss(Module):
    """Frequent classes stand in the head; each cluster of rarer ones is one class there, with a small net of its own.

    Every cluster is computed for every sample, because which ones torch leaves out follows the data.
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False):
        self.in_features, self.n_classes, self.div_value, self.head_bias = in_features, n_classes, div_value, head_bias
        self.cutoffs = [*cutoffs, n_classes]
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias)
        self.tail = ModuleList([])
        for i, (low, high) in enumerate(itertools.pairwise(self.cutoffs)):
            width = int(in_features // div_value ** (i + 1))
            self.tail.append(Sequential(Linear(in_features, width, False), Linear(width, high - low, False)))

    def log_prob(self, params, input):
        """Log-probabilities of all classes: (..., n_classes)."""
        head = jax.nn.log_softmax(self.head(params["head"], input), axis=-1)
        parts = [head[..., : self.shortlist_size]]
        for i, (name, cluster) in enumerate(self.tail.layers()):
            own = jax.nn.log_softmax(cluster(params["tail"][name], input), axis=-1)
            parts.append(own + head[..., self.shortlist_size + i, None])
        return jnp.concatenate(parts, axis=-1)

    def predict(self, params, input):
        """The likeliest class of each sample."""
        return self.log_prob(params, input).argmax(axis=-1)

    def __call__(self, params, input_, target_):
        output = jnp.take_along_axis(self.log_prob(params, input_), target_[..., None], axis=-1)[..., 0]
        return AdaptiveOutput(output, -output.mean())
