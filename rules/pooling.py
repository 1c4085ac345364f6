"""Pooling over sliding windows."""

from transpile.rule import rule

from .windowed import avg_pool, lp_pool, max_pool, max_pool_with_indices, pool_windows


@rule("torch.nn.functional.max_pool2d", "torch.max_pool2d")
def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    windows = pool_windows(input.shape[-2:], kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool_with_indices(input, windows) if return_indices else max_pool(input, windows)


@rule("torch.nn.functional.max_pool1d", "torch.max_pool1d")
def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    windows = pool_windows(input.shape[-1:], kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool_with_indices(input, windows) if return_indices else max_pool(input, windows)


@rule("torch.nn.functional.max_pool3d", "torch.max_pool3d")
def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    windows = pool_windows(input.shape[-3:], kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool_with_indices(input, windows) if return_indices else max_pool(input, windows)


@rule("torch.nn.functional.max_pool1d_with_indices", "torch.max_pool1d_with_indices")
def max_pool1d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices=True)


@rule("torch.nn.functional.max_pool2d_with_indices")
def max_pool2d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices=True)


@rule("torch.nn.functional.max_pool3d_with_indices")
def max_pool3d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    return max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices=True)


@rule("torch.nn.functional.avg_pool2d")
def avg_pool2d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    windows = pool_windows(input.shape[-2:], kernel_size, stride, padding, 1, ceil_mode)
    return avg_pool(input, windows, count_include_pad, divisor_override)


@rule("torch.nn.functional.avg_pool1d", "torch.avg_pool1d")
def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    windows = pool_windows(input.shape[-1:], kernel_size, stride, padding, 1, ceil_mode)
    return avg_pool(input, windows, count_include_pad)


@rule("torch.nn.functional.avg_pool3d")
def avg_pool3d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    windows = pool_windows(input.shape[-3:], kernel_size, stride, padding, 1, ceil_mode)
    return avg_pool(input, windows, count_include_pad, divisor_override)


@rule("torch.nn.functional.lp_pool2d")
def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    windows = pool_windows(input.shape[-2:], kernel_size, stride, 0, 1, ceil_mode)
    return lp_pool(input, norm_type, windows)


@rule("torch.nn.functional.lp_pool1d")
def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    windows = pool_windows(input.shape[-1:], kernel_size, stride, 0, 1, ceil_mode)
    return lp_pool(input, norm_type, windows)


@rule("torch.nn.functional.lp_pool3d")
def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    windows = pool_windows(input.shape[-3:], kernel_size, stride, 0, 1, ceil_mode)
    return lp_pool(input, norm_type, windows)
