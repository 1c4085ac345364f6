"""Pooling over windows, and back."""

from transpile.layer import Module, layer

from ..spatial import per_dim
from ..unpooling import max_unpool, unpooled_size
from ..windowed import avg_pool, lp_pool, max_pool, max_pool_with_indices, pool_windows


@layer("torch.nn.modules.pooling._MaxPoolNd")
class MaxPoolNd(Module):
    """The largest element of each window over the last ``rank`` dims."""

    rank = 2

    def __init__(
        self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False
    ):
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def __call__(self, input):
        lengths = input.shape[-self.rank :]
        sizes = self.kernel_size, self.stride, self.padding, self.dilation
        windows = pool_windows(lengths, *sizes, self.ceil_mode)
        if self.return_indices:
            return max_pool_with_indices(input, windows)
        return max_pool(input, windows)


@layer("torch.nn.modules.pooling._AvgPoolNd")
class AvgPoolNd(Module):
    """The mean of each window over the last ``rank`` dims."""

    rank = 2

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def __call__(self, input):
        lengths = input.shape[-self.rank :]
        sizes = self.kernel_size, self.stride, self.padding
        windows = pool_windows(lengths, *sizes, 1, self.ceil_mode)
        return avg_pool(input, windows, self.count_include_pad, self.divisor_override)


@layer("torch.nn.modules.pooling._LPPoolNd")
class LPPoolNd(Module):
    """The root of the sum of powers of each window over the last ``rank`` dims."""

    rank = 2

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def __call__(self, input):
        windows = pool_windows(
            input.shape[-self.rank :], self.kernel_size, self.stride, 0, 1, self.ceil_mode
        )
        return lp_pool(input, self.norm_type, windows)


@layer("torch.nn.MaxPool1d", "torch.nn.modules.pooling.MaxPool1d")
class MaxPool1d(MaxPoolNd):
    """The largest element of each window of (N, C, L) or (C, L)."""

    rank = 1


@layer("torch.nn.MaxPool2d", "torch.nn.modules.pooling.MaxPool2d")
class MaxPool2d(MaxPoolNd):
    """The largest element of each window of (N, C, H, W) or (C, H, W)."""

    rank = 2


@layer("torch.nn.MaxPool3d", "torch.nn.modules.pooling.MaxPool3d")
class MaxPool3d(MaxPoolNd):
    """The largest element of each window of (N, C, D, H, W) or (C, D, H, W)."""

    rank = 3


@layer("torch.nn.AvgPool1d", "torch.nn.modules.pooling.AvgPool1d")
class AvgPool1d(AvgPoolNd):
    """The mean of each window of (N, C, L) or (C, L)."""

    rank = 1

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
    ):
        stride = kernel_size if stride is None else stride
        super().__init__(
            per_dim(kernel_size, 1),
            per_dim(stride, 1),
            per_dim(padding, 1),
            ceil_mode,
            count_include_pad,
        )


@layer("torch.nn.AvgPool2d", "torch.nn.modules.pooling.AvgPool2d")
class AvgPool2d(AvgPoolNd):
    """The mean of each window of (N, C, H, W) or (C, H, W)."""

    rank = 2


@layer("torch.nn.AvgPool3d", "torch.nn.modules.pooling.AvgPool3d")
class AvgPool3d(AvgPoolNd):
    """The mean of each window of (N, C, D, H, W) or (C, D, H, W)."""

    rank = 3


@layer("torch.nn.LPPool1d", "torch.nn.modules.pooling.LPPool1d")
class LPPool1d(LPPoolNd):
    """The root of the sum of powers of each window of (N, C, L) or (C, L)."""

    rank = 1


@layer("torch.nn.LPPool2d", "torch.nn.modules.pooling.LPPool2d")
class LPPool2d(LPPoolNd):
    """The root of the sum of powers of each window of (N, C, H, W) or (C, H, W)."""

    rank = 2


@layer("torch.nn.LPPool3d", "torch.nn.modules.pooling.LPPool3d")
class LPPool3d(LPPoolNd):
    """The root of the sum of powers of each window of (N, C, D, H, W) or (C, D, H, W)."""

    rank = 3


@layer("torch.nn.modules.pooling._MaxUnpoolNd")
class MaxUnpoolNd(Module):
    """Puts pooled values back to their indices, among zeros."""

    rank = 2

    def __init__(self, kernel_size, stride=None, padding=0):
        self.kernel_size = per_dim(kernel_size, self.rank)
        self.stride = self.kernel_size if stride is None else per_dim(stride, self.rank)
        self.padding = per_dim(padding, self.rank)

    def __call__(self, input, indices, output_size=None):
        lengths = input.shape[-self.rank :]
        size = unpooled_size(lengths, self.kernel_size, self.stride, self.padding, output_size)
        return max_unpool(input, indices, size)


@layer("torch.nn.MaxUnpool1d", "torch.nn.modules.pooling.MaxUnpool1d")
class MaxUnpool1d(MaxUnpoolNd):
    """Puts values pooled by ``MaxPool1d`` back to their indices: (N, C, L) or (C, L)."""

    rank = 1


@layer("torch.nn.MaxUnpool2d", "torch.nn.modules.pooling.MaxUnpool2d")
class MaxUnpool2d(MaxUnpoolNd):
    """Puts values pooled by ``MaxPool2d`` back to their indices: (N, C, H, W) or (C, H, W)."""

    rank = 2


@layer("torch.nn.MaxUnpool3d", "torch.nn.modules.pooling.MaxUnpool3d")
class MaxUnpool3d(MaxUnpoolNd):
    """Puts values pooled by ``MaxPool3d`` back to their indices: (N, C, D, H, W)."""

    rank = 3
