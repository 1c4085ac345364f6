"""Padding and cropping."""

import jax.numpy as jnp
from jax import lax

from transpile.rule import rule


@rule("torch.nn.functional.pad", by_data="pad")
def pad(input, pad, mode="constant", value=None):
    """Pad ``input``; ``pad`` holds (before, after) for the last dim first, and a negative one crops."""
    pairs = [(0, 0)] * (input.ndim - len(pad) // 2) + list(zip(pad[-2::-2], pad[::-2]))
    if mode == "constant":
        fill = jnp.asarray(0 if value is None else value).astype(input.dtype)
        return lax.pad(input, fill, [(before, after, 0) for before, after in pairs])
    cropped = [(min(before, 0), min(after, 0), 0) for before, after in pairs]
    grown = [(max(before, 0), max(after, 0)) for before, after in pairs]
    crop = lambda x: lax.pad(x, jnp.zeros((), x.dtype), cropped)
    if mode == "circular":  # what wraps around is what the crop left; the other modes crop last
        return jnp.pad(crop(input), grown, mode="wrap")
    return crop(jnp.pad(input, grown, mode="edge" if mode == "replicate" else mode))


@rule("torch.constant_pad_nd", by_data="pad")
def constant_pad_nd(input, pad, value=0):
    pairs = [(0, 0, 0)] * (input.ndim - len(pad) // 2) + [(*pair, 0) for pair in zip(pad[-2::-2], pad[::-2])]
    return lax.pad(input, jnp.asarray(value).astype(input.dtype), pairs)
