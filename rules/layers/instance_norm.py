"""Normalization of each channel of each sample."""

import jax.numpy as jnp
from jax import lax

from transpile.layer import Buffer, Module, Parameter, layer

from ..normalization import flat_channels, normalize_channels, normalize_instances, widened


@layer("torch.nn.modules.instancenorm._InstanceNorm")
class InstanceNorm(Module):
    """Normalizes each channel of each sample of (N, C, *spatial) or (C, *spatial)."""

    rank = 2

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        *,
        dtype=None,
        bias=True,
    ):
        if track_running_stats:
            raise ValueError("running statistics are what a TrackedInstanceNorm keeps")
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.weight = Parameter(jnp.ones(num_features, dtype)) if affine else None
        self.bias = Parameter(jnp.zeros(num_features, dtype)) if affine and bias else None

    def __call__(self, input):
        return normalize_instances(input, self.weight, self.bias, self.eps, self.rank)


class TrackedInstanceNorm(InstanceNorm):
    """An instance norm that keeps running statistics: means over the samples, used in eval."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        *,
        dtype=None,
        bias=True,
    ):
        super().__init__(num_features, eps, momentum, affine, dtype=dtype, bias=bias)
        self.track_running_stats = tracked = track_running_stats
        self.running_mean = Buffer(jnp.zeros(num_features, dtype)) if tracked else None
        self.running_var = Buffer(jnp.ones(num_features, dtype)) if tracked else None
        self.num_batches_tracked = Buffer(jnp.zeros((), int)) if tracked else None

    def __call__(self, input):
        weight, bias, eps = self.weight, self.bias, self.eps
        if not self.track_running_stats:
            return normalize_instances(input, weight, bias, eps, self.rank)
        batch = input if input.ndim == self.rank + 2 else input[None]
        if not self.training:
            mean, var = self.running_mean, self.running_var
            output = normalize_channels(batch, mean, var, weight, bias, eps)
            return output.reshape(input.shape)
        mean, var = instance_statistics(lax.stop_gradient(batch), self.rank)
        momentum = self.momentum or 0.0
        old_mean, old_var = self.running_mean, self.running_var
        self.running_mean = ((1 - momentum) * old_mean + momentum * mean).astype(old_mean.dtype)
        self.running_var = ((1 - momentum) * old_var + momentum * var).astype(old_var.dtype)
        return normalize_instances(batch, weight, bias, eps, self.rank).reshape(input.shape)


def instance_statistics(input, spatial):
    """The mean and the unbiased variance of each channel of (N, C, *spatial), over the samples."""
    flat = widened(flat_channels(input, spatial))
    return flat.mean(axis=(0, 2)), jnp.var(flat, axis=2, ddof=1).mean(axis=0)


@layer("torch.nn.InstanceNorm1d", "torch.nn.modules.instancenorm.InstanceNorm1d")
class InstanceNorm1d(InstanceNorm):
    """Normalizes each channel of each sample of (N, C, L) or (C, L)."""

    rank = 1


@layer("torch.nn.InstanceNorm2d", "torch.nn.modules.instancenorm.InstanceNorm2d")
class InstanceNorm2d(InstanceNorm):
    """Normalizes each channel of each sample of (N, C, H, W) or (C, H, W)."""

    rank = 2


@layer("torch.nn.InstanceNorm3d", "torch.nn.modules.instancenorm.InstanceNorm3d")
class InstanceNorm3d(InstanceNorm):
    """Normalizes each channel of each sample of (N, C, D, H, W) or (C, D, H, W)."""

    rank = 3


@layer(
    "torch.nn.InstanceNorm1d[track_running_stats]",
    "torch.nn.modules.instancenorm.InstanceNorm1d[track_running_stats]",
)
class TrackedInstanceNorm1d(TrackedInstanceNorm, InstanceNorm1d):
    """Normalizes each channel of each sample of (N, C, L) or (C, L)."""


@layer(
    "torch.nn.InstanceNorm2d[track_running_stats]",
    "torch.nn.modules.instancenorm.InstanceNorm2d[track_running_stats]",
)
class TrackedInstanceNorm2d(TrackedInstanceNorm, InstanceNorm2d):
    """Normalizes each channel of each sample of (N, C, H, W) or (C, H, W)."""


@layer(
    "torch.nn.InstanceNorm3d[track_running_stats]",
    "torch.nn.modules.instancenorm.InstanceNorm3d[track_running_stats]",
)
class TrackedInstanceNorm3d(TrackedInstanceNorm, InstanceNorm3d):
    """Normalizes each channel of each sample of (N, C, D, H, W) or (C, D, H, W)."""
