"""Layers that are built without one of their sizes, which they take from their first input.

``Parameter(None)`` is the place of an array that the first input makes, or that a checkpoint fills.
"""

from transpile.layer import Buffer, Module, Parameter, layer

from .batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .convolution import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .instance_norm import TrackedInstanceNorm1d, TrackedInstanceNorm2d, TrackedInstanceNorm3d
from .linear import Linear


class Lazy(Module):
    """A layer that makes its arrays for its first input, unless it was given them before."""

    def has_uninitialized_params(self):
        own = [*self.named_parameters(recurse=False), *self.named_buffers(recurse=False)]
        return any(value is None for _, value in own)

    def materialize(self, input):
        if self.has_uninitialized_params():
            self.initialize_parameters(input)


@layer("torch.nn.LazyLinear")
class LazyLinear(Lazy, Linear):
    """A ``Linear`` that takes ``in_features`` from its first input."""

    def __init__(self, out_features, bias=True):
        self.arguments = out_features, bias
        super().__init__(0, *self.arguments)
        self.weight = Parameter(None)
        self.bias = Parameter(None) if bias else None

    def initialize_parameters(self, input):
        super().__init__(input.shape[-1], *self.arguments)

    def __call__(self, input):
        self.materialize(input)
        return super().__call__(input)


class LazyConvNd(Lazy):
    """A convolution that takes ``in_channels`` from its first input."""

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
        sizes = kernel_size, stride, padding, dilation
        self.arguments = out_channels, *sizes, groups, bias, padding_mode
        super().__init__(0, *self.arguments)
        self.weight = Parameter(None)
        self.bias = Parameter(None) if bias else None

    def initialize_parameters(self, input):
        super().__init__(input.shape[-self.rank - 1], *self.arguments)

    def __call__(self, input):
        self.materialize(input)
        return super().__call__(input)


class LazyConvTransposeNd(Lazy):
    """A transposed convolution that takes ``in_channels`` from its first input."""

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
        self.arguments = out_channels, *sizes, groups, bias, dilation, padding_mode
        super().__init__(0, *self.arguments)
        self.weight = Parameter(None)
        self.bias = Parameter(None) if bias else None

    def initialize_parameters(self, input):
        super().__init__(input.shape[-self.rank - 1], *self.arguments)

    def __call__(self, input, output_size=None):
        self.materialize(input)
        return super().__call__(input, output_size)


class LazyNorm(Lazy):
    """A normalization that takes ``num_features`` from its first input."""

    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, *, bias=True):
        self.arguments = {
            "eps": eps,
            "momentum": momentum,
            "affine": affine,
            "track_running_stats": track_running_stats,
            "bias": bias,
        }
        super().__init__(0, **self.arguments)
        self.weight = Parameter(None) if affine else None
        self.bias = Parameter(None) if affine and bias else None
        self.running_mean = Buffer(None) if track_running_stats else None
        self.running_var = Buffer(None) if track_running_stats else None

    def initialize_parameters(self, input):
        super().__init__(input.shape[1], **self.arguments)

    def __call__(self, input):
        self.materialize(input)
        return super().__call__(input)


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
class LazyBatchNorm1d(LazyNorm, BatchNorm1d):
    """Normalizes over the batch each channel of (N, C) or (N, C, L)."""


@layer("torch.nn.LazyBatchNorm2d")
class LazyBatchNorm2d(LazyNorm, BatchNorm2d):
    """Normalizes over the batch each channel of (N, C, H, W)."""


@layer("torch.nn.LazyBatchNorm3d")
class LazyBatchNorm3d(LazyNorm, BatchNorm3d):
    """Normalizes over the batch each channel of (N, C, D, H, W)."""


@layer("torch.nn.LazyInstanceNorm1d")
class LazyInstanceNorm1d(LazyNorm, TrackedInstanceNorm1d):
    """Normalizes each channel of each sample of (N, C, L) or (C, L)."""


@layer("torch.nn.LazyInstanceNorm2d")
class LazyInstanceNorm2d(LazyNorm, TrackedInstanceNorm2d):
    """Normalizes each channel of each sample of (N, C, H, W) or (C, H, W)."""


@layer("torch.nn.LazyInstanceNorm3d")
class LazyInstanceNorm3d(LazyNorm, TrackedInstanceNorm3d):
    """Normalizes each channel of each sample of (N, C, D, H, W) or (C, D, H, W)."""
