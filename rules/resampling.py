"""Resizing images and other channels-first arrays."""

from transpile.rule import Unsupported, rule

from .adaptive_pooling import adaptive_avg_pool
from .resizing import resize_cubic, resize_lanczos, resize_linear, resize_nearest, resized_dims


@rule("torch.nn.functional.interpolate", by_data=("size", "scale_factor"))
def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    if mode == "nearest":
        return resize_nearest(
            input, size=size, scale_factor=scale_factor, recompute_scale_factor=recompute_scale_factor
        )
    if mode in ("linear", "bilinear", "trilinear"):
        return resize_linear(
            input,
            size=size,
            scale_factor=scale_factor,
            align_corners=align_corners,
            antialias=antialias,
            recompute_scale_factor=recompute_scale_factor,
        )
    if mode == "bicubic":
        return resize_cubic(
            input,
            size=size,
            scale_factor=scale_factor,
            align_corners=align_corners,
            antialias=antialias,
            recompute_scale_factor=recompute_scale_factor,
        )
    if mode == "area":
        return resize_area(input, size=size, scale_factor=scale_factor)
    if mode == "nearest-exact":
        return resize_nearest(
            input, size=size, scale_factor=scale_factor, exact=True, recompute_scale_factor=recompute_scale_factor
        )
    if mode == "lanczos":
        return resize_lanczos(
            input, size=size, scale_factor=scale_factor, recompute_scale_factor=recompute_scale_factor
        )
    raise Unsupported("an unknown mode of interpolate; use nearest, linear, bilinear, trilinear, bicubic or area")


@rule("torch.nn.functional.upsample")
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    if mode == "nearest":
        return resize_nearest(input, size=size, scale_factor=scale_factor)
    if mode in ("linear", "bilinear", "trilinear"):
        return resize_linear(input, size=size, scale_factor=scale_factor, align_corners=align_corners)
    return interpolate(input, size, scale_factor, mode, align_corners)


@rule("torch.nn.functional.upsample_nearest")
def upsample_nearest(input, size=None, scale_factor=None):
    return resize_nearest(input, size=size, scale_factor=scale_factor)


@rule("torch.nn.functional.upsample_bilinear")
def upsample_bilinear(input, size=None, scale_factor=None):
    return resize_linear(input, size=size, scale_factor=scale_factor, align_corners=True)


def resize_area(input, size=None, scale_factor=None):
    """(N, C, *spatial) resized by the means of equal parts, as an adaptive average pool does."""
    sizes = [new_length for _, _, new_length, _ in resized_dims(input, size, scale_factor)]
    return adaptive_avg_pool(input, sizes, input.ndim - 2)
