"""Reductions over the places that a mask selects: `x[mask].mean()` has a static shape after all."""

import jax.numpy as jnp

from transpile.rule import rule


@rule("torch.Tensor.sum[mask]", "torch.sum[mask]")
def selected_sum(input, mask):
    return jnp.sum(input, where=mask)


@rule("torch.Tensor.mean[mask]", "torch.mean[mask]")
def selected_mean(input, mask):
    return jnp.mean(input, where=mask)


@rule("torch.Tensor.max[mask]", "torch.max[mask]")
def masked_max(input, mask):
    return jnp.max(input, where=mask, initial=-jnp.inf)


@rule("torch.Tensor.min[mask]", "torch.min[mask]")
def masked_min(input, mask):
    return jnp.min(input, where=mask, initial=jnp.inf)


@rule("torch.Tensor.numel[mask]", "torch.Tensor.nelement[mask]")
def masked_numel(input, mask):
    return jnp.sum(mask)
