"""Reductions over the places that a mask selects: `x[mask].mean()` has a static shape after all.

`[mask]` is for a mask that is known to have the rank of the array, `[rows]` for one that may have fewer dims.
"""

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


def over(mask, input):
    """The mask above the leading dims of ``input``, as an index takes it."""
    return mask.reshape(mask.shape + (1,) * (input.ndim - mask.ndim))


@rule("torch.Tensor.sum[rows]")
def sum_of_rows(input, mask):
    return jnp.sum(input, where=over(mask, input))


@rule("torch.Tensor.mean[rows]")
def mean_of_rows(input, mask):
    return jnp.mean(input, where=over(mask, input))


@rule("torch.Tensor.max[rows]")
def max_of_rows(input, mask):
    return jnp.max(input, where=over(mask, input), initial=-jnp.inf)


@rule("torch.Tensor.min[rows]")
def min_of_rows(input, mask):
    return jnp.min(input, where=over(mask, input), initial=jnp.inf)


@rule("torch.Tensor.numel[rows]", "torch.Tensor.nelement[rows]")
def numel_of_rows(input, mask):
    return jnp.sum(jnp.broadcast_to(over(mask, input), input.shape))
