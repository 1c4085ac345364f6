"""Normalization of each channel of each sample."""

import jax.numpy as jnp
from jax import lax

from transpile.layer import layer

from ..normalization import flat_channels, normalize_channels, normalize_instances, widened
from .batch_norm import ChannelNorm


@layer("torch.nn.modules.instancenorm._InstanceNorm")
class InstanceNorm(ChannelNorm):
    """Normalizes each channel of each sample of (N, C, *spatial) or (C, *spatial).

    With running statistics, which are means over the samples, these are used in eval.
    """

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
        kept = affine, track_running_stats
        super().__init__(num_features, eps, momentum, *kept, dtype=dtype, bias=bias)

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
