"""Convolution layers."""

import math

import jax

from transpile.rule import layer

from .convolution import conv, conv_transpose, fold, unfold_patches
from .module import Module
from .padding import pad
from .spatial import per_dim


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
    ):
        self.in_channels, self.out_channels, self.groups, self.bias = in_channels, out_channels, groups, bias
        self.kernel_size, self.stride = per_dim(kernel_size, self.rank), per_dim(stride, self.rank)
        self.padding = padding if isinstance(padding, str) else per_dim(padding, self.rank)
        self.dilation, self.output_padding = per_dim(dilation, self.rank), (0,) * self.rank
        self.padding_mode = padding_mode

    def init(self, key):
        channels = (self.in_channels, self.out_channels) if self.transposed else (self.out_channels, self.in_channels)
        shape = (channels[0], channels[1] // self.groups, *self.kernel_size)
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        weight_key, bias_key = jax.random.split(key)
        params = {"weight": jax.random.uniform(weight_key, shape, minval=-bound, maxval=bound)}
        if self.bias:
            params["bias"] = jax.random.uniform(bias_key, (self.out_channels,), minval=-bound, maxval=bound)
        return params

    def __call__(self, params, input):
        return self._conv_forward(input, params["weight"], params.get("bias"))

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
    ):
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode)
        self.output_padding = per_dim(output_padding, self.rank)

    def __call__(self, params, input, output_size=None):
        output_padding = self.output_padding
        if output_size is not None:
            output_padding = self._padding_up_to(output_size[-self.rank :], input.shape[-self.rank :])
        return conv_transpose(
            input,
            params["weight"],
            params.get("bias"),
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
            raise ValueError(f"output_size {tuple(output_size)} is not within a stride of the least, {tuple(least)}")
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
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def __call__(self, input):
        return unfold_patches(input, self.kernel_size, self.dilation, self.padding, self.stride)


@layer("torch.nn.Fold")
class Fold(Module):
    """Patches added up to an image: (N, C * kernel, places) to (N, C, H, W)."""

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def __call__(self, input):
        return fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)
