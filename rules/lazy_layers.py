"""Layers that are built without one of their sizes, which torch takes from their first input."""

from transpile.rule import Unsupported, layer

from .convolution_layers import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .linear_layers import Linear
from .normalization_layers import BatchNorm1d, BatchNorm2d, BatchNorm3d


@layer(note="init cannot tell the size that a lazy layer takes from its first input: load weights, or write the size")
class Lazy:
    """A layer that works with weights it is given, and cannot make its own."""

    def init(self, key):
        name = type(self).__name__
        raise Unsupported(f"{name} has no sizes before its first input: load weights, or use {name[4:]} with its sizes")

    def init_state(self, key):
        return self.init(key)


class LazyConvNd(Lazy):
    """A convolution of whatever number of channels its weight has."""

    def __init__(
        self,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
    ):
        super().__init__(None, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode)


class LazyConvTransposeNd(Lazy):
    """A transposed convolution of whatever number of channels its weight has."""

    def __init__(
        self,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
    ):
        sizes = kernel_size, stride, padding, output_padding
        super().__init__(None, out_channels, *sizes, groups, bias, dilation, padding_mode)


class LazyBatchNorm(Lazy):
    """A batch norm of whatever number of channels its weight has."""

    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, *, bias=True):
        super().__init__(None, eps, momentum, affine, track_running_stats, bias=bias)


@layer("torch.nn.LazyLinear")
class LazyLinear(Lazy, Linear):
    """``x @ weight.T + bias`` on the last axis."""

    def __init__(self, out_features, bias=True):
        super().__init__(None, out_features, bias)


@layer("torch.nn.LazyConv1d")
class LazyConv1d(LazyConvNd, Conv1d):
    """Convolution of (N, C, L) or (C, L)."""


@layer("torch.nn.LazyConv2d")
class LazyConv2d(LazyConvNd, Conv2d):
    """Convolution of (N, C, H, W) or (C, H, W)."""


@layer("torch.nn.LazyConv3d")
class LazyConv3d(LazyConvNd, Conv3d):
    """Convolution of (N, C, D, H, W) or (C, D, H, W)."""


@layer("torch.nn.LazyConvTranspose1d")
class LazyConvTranspose1d(LazyConvTransposeNd, ConvTranspose1d):
    """Transposed convolution of (N, C, L) or (C, L)."""


@layer("torch.nn.LazyConvTranspose2d")
class LazyConvTranspose2d(LazyConvTransposeNd, ConvTranspose2d):
    """Transposed convolution of (N, C, H, W) or (C, H, W)."""


@layer("torch.nn.LazyConvTranspose3d")
class LazyConvTranspose3d(LazyConvTransposeNd, ConvTranspose3d):
    """Transposed convolution of (N, C, D, H, W) or (C, D, H, W)."""


@layer("torch.nn.LazyBatchNorm1d")
class LazyBatchNorm1d(LazyBatchNorm, BatchNorm1d):
    """Normalizes each channel of (N, C) or (N, C, L) over the batch."""


@layer("torch.nn.LazyBatchNorm2d")
class LazyBatchNorm2d(LazyBatchNorm, BatchNorm2d):
    """Normalizes each channel of (N, C, H, W) over the batch."""


@layer("torch.nn.LazyBatchNorm3d")
class LazyBatchNorm3d(LazyBatchNorm, BatchNorm3d):
    """Normalizes each channel of (N, C, D, H, W) over the batch."""
