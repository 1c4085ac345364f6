"""Layers that resize, or move values between channels and pixels."""

from transpile.layer import Module, layer

from ..resampling import interpolate
from ..shuffling import channel_shuffle, pixel_shuffle, pixel_unshuffle


@layer("torch.nn.Upsample", "torch.nn.modules.upsampling.Upsample")
class Upsample(Module):
    """Resizes the spatial dims of (N, C, *spatial)."""

    def __init__(
        self,
        size=None,
        scale_factor=None,
        mode="nearest",
        align_corners=None,
        recompute_scale_factor=None,
    ):
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def __call__(self, input):
        return interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )


@layer("torch.nn.UpsamplingNearest2d")
class UpsamplingNearest2d(Upsample):
    """Resizes (N, C, H, W) by copying pixels."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="nearest")


@layer("torch.nn.UpsamplingBilinear2d")
class UpsamplingBilinear2d(Upsample):
    """Resizes (N, C, H, W) by linear interpolation, corner on corner."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


@layer("torch.nn.PixelShuffle")
class PixelShuffle(Module):
    """Channels become pixels: (..., C * r * r, H, W) to (..., C, H * r, W * r)."""

    def __init__(self, upscale_factor):
        self.upscale_factor = upscale_factor

    def __call__(self, input):
        return pixel_shuffle(input, self.upscale_factor)


@layer("torch.nn.PixelUnshuffle")
class PixelUnshuffle(Module):
    """Pixels become channels: (..., C, H * r, W * r) to (..., C * r * r, H, W)."""

    def __init__(self, downscale_factor):
        self.downscale_factor = downscale_factor

    def __call__(self, input):
        return pixel_unshuffle(input, self.downscale_factor)


@layer("torch.nn.ChannelShuffle")
class ChannelShuffle(Module):
    """Deals the channels of (N, C, ...) out over the groups."""

    def __init__(self, groups):
        self.groups = groups

    def __call__(self, input):
        return channel_shuffle(input, self.groups)
