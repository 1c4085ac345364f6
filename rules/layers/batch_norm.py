"""Normalization of each channel over the batch."""

import jax.numpy as jnp

from transpile.layer import Buffer, Module, Parameter, layer

from ..normalization import batch_norm_moving, normalize_batch, normalize_channels


@layer("torch.nn.modules.batchnorm._NormBase")
class ChannelNorm(Module):
    """A normalization with a weight and a bias for each channel, and with running statistics."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        *,
        dtype=None,
        bias=True,
    ):
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.weight = Parameter(jnp.ones(num_features, dtype)) if affine else None
        self.bias = Parameter(jnp.zeros(num_features, dtype)) if affine and bias else None
        tracked = track_running_stats
        self.running_mean = Buffer(jnp.zeros(num_features, dtype)) if tracked else None
        self.running_var = Buffer(jnp.ones(num_features, dtype)) if tracked else None
        self.num_batches_tracked = Buffer(jnp.zeros((), int)) if tracked else None


@layer("torch.nn.modules.batchnorm._BatchNorm")
class BatchNorm(ChannelNorm):
    """Normalizes each channel of (N, C, ...) over the batch.

    In training it does so by the batch's own mean and variance, towards which the running ones
    move; otherwise by the running ones.
    """

    def __call__(self, input):
        weight, bias, eps = self.weight, self.bias, self.eps
        if self.running_mean is not None and not self.training:
            return normalize_channels(input, self.running_mean, self.running_var, weight, bias, eps)
        if self.running_mean is None or not self.track_running_stats:
            return normalize_batch(input, weight, bias, eps)
        self.num_batches_tracked = self.num_batches_tracked + 1
        momentum = self.momentum
        if momentum is None:  # the mean of all batches
            momentum = 1 / self.num_batches_tracked
        output, mean, var = batch_norm_moving(
            input, self.running_mean, self.running_var, weight, bias, momentum, eps
        )
        self.running_mean = mean
        self.running_var = var
        return output


@layer("torch.nn.BatchNorm1d", "torch.nn.modules.batchnorm.BatchNorm1d")
class BatchNorm1d(BatchNorm):
    """Normalizes each channel of (N, C) or (N, C, L) over the batch."""


@layer("torch.nn.BatchNorm2d", "torch.nn.modules.batchnorm.BatchNorm2d")
class BatchNorm2d(BatchNorm):
    """Normalizes each channel of (N, C, H, W) over the batch."""


@layer("torch.nn.BatchNorm3d", "torch.nn.modules.batchnorm.BatchNorm3d")
class BatchNorm3d(BatchNorm):
    """Normalizes each channel of (N, C, D, H, W) over the batch."""


@layer("torch.nn.SyncBatchNorm", "torch.nn.modules.batchnorm.SyncBatchNorm")
class SyncBatchNorm(BatchNorm):
    """Normalizes over the batch on all devices, as any ``BatchNorm`` does on a sharded array."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        *,
        dtype=None,
        bias=True,
    ):
        kept = affine, track_running_stats
        super().__init__(num_features, eps, momentum, *kept, dtype=dtype, bias=bias)
