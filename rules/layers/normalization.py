"""Normalization over the last axes, over groups of channels, and over neighbouring channels."""

import jax.numpy as jnp

from transpile.layer import Module, Parameter, layer

from ..normalization import group_norm, layer_norm, local_response_norm, rms_norm


@layer("torch.nn.LayerNorm", "torch.nn.modules.normalization.LayerNorm")
class LayerNorm(Module):
    """Normalizes over the last axes, those of ``normalized_shape``."""

    def __init__(
        self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, *, dtype=None
    ):
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape, self.eps = tuple(shape), eps
        self.elementwise_affine = elementwise_affine
        self.weight = Parameter(jnp.ones(shape, dtype)) if elementwise_affine else None
        self.bias = Parameter(jnp.zeros(shape, dtype)) if elementwise_affine and bias else None

    def __call__(self, input):
        return layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


@layer("torch.nn.RMSNorm", "torch.nn.modules.normalization.RMSNorm")
class RMSNorm(Module):
    """Divides by the root mean square over the last axes, those of ``normalized_shape``."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, *, dtype=None):
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
        self.normalized_shape, self.eps = tuple(shape), eps
        self.elementwise_affine = elementwise_affine
        self.weight = Parameter(jnp.ones(shape, dtype)) if elementwise_affine else None

    def __call__(self, x):
        return rms_norm(x, self.normalized_shape, self.weight, self.eps)


@layer("torch.nn.GroupNorm", "torch.nn.modules.normalization.GroupNorm")
class GroupNorm(Module):
    """Normalizes each of ``num_groups`` groups of the channels of (N, C, ...)."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, *, dtype=None, bias=True):
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.affine = affine
        self.weight = Parameter(jnp.ones(num_channels, dtype)) if affine else None
        self.bias = Parameter(jnp.zeros(num_channels, dtype)) if affine and bias else None

    def __call__(self, input):
        return group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


@layer("torch.nn.LocalResponseNorm")
class LocalResponseNorm(Module):
    """Divides (N, C, ...) by a power of the mean square over ``size`` neighbouring channels."""

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def __call__(self, input):
        return local_response_norm(input, self.size, self.alpha, self.beta, self.k)
