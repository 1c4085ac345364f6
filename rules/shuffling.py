"""Moving values between channels and pixels."""

import jax.numpy as jnp

from transpile.rule import rule


@rule("torch.pixel_shuffle", "torch.nn.functional.pixel_shuffle")
def pixel_shuffle(input, upscale_factor):
    """Channels become pixels: (..., C * r * r, H, W) to (..., C, H * r, W * r)."""
    r = upscale_factor
    *batch, channels, height, width = input.shape
    blocks = input.reshape(*batch, channels // r**2, r, r, height, width)
    return jnp.moveaxis(blocks, (-4, -3), (-3, -1)).reshape(*batch, channels // r**2, height * r, width * r)


@rule("torch.pixel_unshuffle", "torch.nn.functional.pixel_unshuffle")
def pixel_unshuffle(input, downscale_factor):
    """Pixels become channels: (..., C, H * r, W * r) to (..., C * r * r, H, W)."""
    r = downscale_factor
    *batch, channels, height, width = input.shape
    blocks = input.reshape(*batch, channels, height // r, r, width // r, r)
    return jnp.moveaxis(blocks, (-3, -1), (-4, -3)).reshape(*batch, channels * r**2, height // r, width // r)


@rule("torch.channel_shuffle", "torch.nn.functional.channel_shuffle", "torch.native_channel_shuffle")
def channel_shuffle(input, groups):
    """Deal the channels of (N, C, ...) out: the first of each group, then the second of each group and so on."""
    batch, channels, *rest = input.shape
    return input.reshape(batch, groups, channels // groups, *rest).swapaxes(1, 2).reshape(input.shape)
