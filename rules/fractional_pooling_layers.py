"""Layers that pool over windows whose places are drawn."""

from transpile.rule import layer

from .fractional_pooling import fractional_max_pool
from .module import Module
from .spatial import per_dim


class FractionalMaxPoolNd(Module):
    """The largest element of each drawn window of the last ``rank`` dims; it draws in eval too."""

    rank = 2

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        self.kernel_size, self.return_indices = per_dim(kernel_size, self.rank), return_indices
        self._random_samples = _random_samples
        self.output_size = output_size if output_size is None else per_dim(output_size, self.rank)
        self.output_ratio = output_ratio if output_ratio is None else per_dim(output_ratio, self.rank)

    def __call__(self, input, *, key=None):
        values, indices = fractional_max_pool(
            input, self.rank, self.kernel_size, self.output_size, self.output_ratio, self._random_samples, key
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
