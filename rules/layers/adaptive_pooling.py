"""Pooling to a given size, over bins, or over windows whose places are drawn."""

from transpile.layer import Buffer, Module, draw_key, layer

from ..adaptive_pooling import adaptive_avg_pool, adaptive_max_pool
from ..fractional_pooling import fractional_max_pool
from ..spatial import per_dim


@layer("torch.nn.modules.pooling._AdaptiveAvgPoolNd")
class AdaptiveAvgPoolNd(Module):
    """The means of ``output_size`` bins over the last ``rank`` dims."""

    rank = 2

    def __init__(self, output_size):
        self.output_size = output_size

    def __call__(self, input):
        return adaptive_avg_pool(input, self.output_size, self.rank)


@layer("torch.nn.modules.pooling._AdaptiveMaxPoolNd")
class AdaptiveMaxPoolNd(Module):
    """The largest elements of ``output_size`` bins over the last ``rank`` dims."""

    rank = 2

    def __init__(self, output_size, return_indices=False):
        self.output_size, self.return_indices = output_size, return_indices

    def __call__(self, input):
        values, indices = adaptive_max_pool(input, self.output_size, self.rank)
        return (values, indices) if self.return_indices else values


@layer("torch.nn.AdaptiveAvgPool1d", "torch.nn.modules.pooling.AdaptiveAvgPool1d")
class AdaptiveAvgPool1d(AdaptiveAvgPoolNd):
    """The means of ``output_size`` bins of (N, C, L) or (C, L)."""

    rank = 1


@layer("torch.nn.AdaptiveAvgPool2d", "torch.nn.modules.pooling.AdaptiveAvgPool2d")
class AdaptiveAvgPool2d(AdaptiveAvgPoolNd):
    """The means of ``output_size`` bins of (N, C, H, W) or (C, H, W)."""

    rank = 2


@layer("torch.nn.AdaptiveAvgPool3d", "torch.nn.modules.pooling.AdaptiveAvgPool3d")
class AdaptiveAvgPool3d(AdaptiveAvgPoolNd):
    """The means of ``output_size`` bins of (N, C, D, H, W) or (C, D, H, W)."""

    rank = 3


@layer("torch.nn.AdaptiveMaxPool1d", "torch.nn.modules.pooling.AdaptiveMaxPool1d")
class AdaptiveMaxPool1d(AdaptiveMaxPoolNd):
    """The largest elements of ``output_size`` bins of (N, C, L) or (C, L)."""

    rank = 1


@layer("torch.nn.AdaptiveMaxPool2d", "torch.nn.modules.pooling.AdaptiveMaxPool2d")
class AdaptiveMaxPool2d(AdaptiveMaxPoolNd):
    """The largest elements of ``output_size`` bins of (N, C, H, W) or (C, H, W)."""

    rank = 2


@layer("torch.nn.AdaptiveMaxPool3d", "torch.nn.modules.pooling.AdaptiveMaxPool3d")
class AdaptiveMaxPool3d(AdaptiveMaxPoolNd):
    """The largest elements of ``output_size`` bins of (N, C, D, H, W) or (C, D, H, W)."""

    rank = 3


class FractionalMaxPoolNd(Module):
    """The largest element of each drawn window of the last ``rank`` dims; it draws in eval too."""

    rank = 2

    def __init__(
        self,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        self.kernel_size, self.return_indices = per_dim(kernel_size, self.rank), return_indices
        self._random_samples = None if _random_samples is None else Buffer(_random_samples)
        self.output_size = None if output_size is None else per_dim(output_size, self.rank)
        self.output_ratio = None if output_ratio is None else per_dim(output_ratio, self.rank)

    def __call__(self, input):
        values, indices = fractional_max_pool(
            input,
            self.rank,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self._random_samples,
            draw_key() if self._random_samples is None else None,
        )
        return (values, indices) if self.return_indices else values


@layer("torch.nn.FractionalMaxPool2d")
class FractionalMaxPool2d(FractionalMaxPoolNd):
    """The largest element of each drawn window of (N, C, H, W) or (C, H, W)."""

    rank = 2


@layer("torch.nn.FractionalMaxPool3d")
class FractionalMaxPool3d(FractionalMaxPoolNd):
    """The largest element of each drawn window of (N, C, D, H, W) or (C, D, H, W)."""

    rank = 3
