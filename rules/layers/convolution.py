"""Convolution layers."""

import math

from transpile.layer import Module, Parameter, draw_key, layer

from ..convolution import conv, conv_transpose, fold, unfold_patches
from ..padding import pad
from ..spatial import per_dim
from .beginnings import symmetric_uniform


@layer("torch.nn.modules.conv._ConvNd")
class ConvNd(Module):
    """Convolution over ``rank`` spatial dims of (N, C, *spatial) or (C, *spatial)."""

    rank = 2
    transposed = False

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        *,
        dtype=None,
    ):
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = per_dim(kernel_size, self.rank)
        self.stride, self.dilation = per_dim(stride, self.rank), per_dim(dilation, self.rank)
        self.padding = padding if isinstance(padding, str) else per_dim(padding, self.rank)
        self.output_padding, self.padding_mode = (0,) * self.rank, padding_mode
        if self.transposed:
            shape = (in_channels, out_channels // groups, *self.kernel_size)
        else:
            shape = (out_channels, in_channels // groups, *self.kernel_size)
        fan_in = math.prod(shape[1:])
        bound = 1 / math.sqrt(fan_in) if fan_in else 0
        self.weight = Parameter(symmetric_uniform(draw_key(), shape, bound, dtype))
        self.bias = None
        if bias:
            self.bias = Parameter(symmetric_uniform(draw_key(), (out_channels,), bound, dtype))

    def __call__(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = pad(input, self._edges(), mode=self.padding_mode), 0
        return conv(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def _edges(self):
        """How much to pad before and after each dim, the last dim first, as ``pad`` takes it."""
        if self.padding == "valid":
            return (0, 0) * self.rank
        if self.padding == "same":
            totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            return [edge for total in reversed(totals) for edge in (total // 2, total - total // 2)]
        return [edge for edge in reversed(self.padding) for _ in range(2)]


@layer("torch.nn.Conv1d", "torch.nn.modules.conv.Conv1d")
class Conv1d(ConvNd):
    """Convolution of (N, C, L) or (C, L)."""

    rank = 1


@layer("torch.nn.Conv2d", "torch.nn.modules.conv.Conv2d")
class Conv2d(ConvNd):
    """Convolution of (N, C, H, W) or (C, H, W)."""

    rank = 2


@layer("torch.nn.Conv3d", "torch.nn.modules.conv.Conv3d")
class Conv3d(ConvNd):
    """Convolution of (N, C, D, H, W) or (C, D, H, W)."""

    rank = 3


@layer("torch.nn.modules.conv._ConvTransposeNd")
class ConvTransposeNd(ConvNd):
    """The transpose of a convolution, which grows the spatial dims by the stride."""

    transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        *,
        dtype=None,
    ):
        sizes = kernel_size, stride, padding, dilation
        super().__init__(in_channels, out_channels, *sizes, groups, bias, padding_mode, dtype=dtype)
        self.output_padding = per_dim(output_padding, self.rank)

    def __call__(self, input, output_size=None):
        output_padding = self.output_padding
        if output_size is not None:
            lengths = input.shape[-self.rank :]
            output_padding = self._padding_up_to(output_size[-self.rank :], lengths)
        return conv_transpose(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )

    def _padding_up_to(self, output_size, input_size):
        """The output padding that makes the output this size."""
        least = [
            (length - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1
            for length, stride, padding, dilation, kernel in zip(
                input_size, self.stride, self.padding, self.dilation, self.kernel_size
            )
        ]
        extra = tuple(size - small for size, small in zip(output_size, least))
        if not all(0 <= more < stride for more, stride in zip(extra, self.stride)):
            raise ValueError(f"output_size {tuple(output_size)} is not within a stride of {least}")
        return extra


@layer("torch.nn.ConvTranspose1d", "torch.nn.modules.conv.ConvTranspose1d")
class ConvTranspose1d(ConvTransposeNd):
    """Transposed convolution of (N, C, L) or (C, L)."""

    rank = 1


@layer("torch.nn.ConvTranspose2d", "torch.nn.modules.conv.ConvTranspose2d")
class ConvTranspose2d(ConvTransposeNd):
    """Transposed convolution of (N, C, H, W) or (C, H, W)."""

    rank = 2


@layer("torch.nn.ConvTranspose3d", "torch.nn.modules.conv.ConvTranspose3d")
class ConvTranspose3d(ConvTransposeNd):
    """Transposed convolution of (N, C, D, H, W) or (C, D, H, W)."""

    rank = 3


@layer("torch.nn.Unfold")
class Unfold(Module):
    """The patches of an image as columns: (N, C, H, W) to (N, C * kernel, places)."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        self.kernel_size, self.dilation, self.padding, self.stride = (
            kernel_size,
            dilation,
            padding,
            stride,
        )

    def __call__(self, input):
        return unfold_patches(input, self.kernel_size, self.dilation, self.padding, self.stride)


@layer("torch.nn.Fold")
class Fold(Module):
    """Patches added up to an image: (N, C * kernel, places) to (N, C, H, W)."""

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def __call__(self, input):
        return fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )
