"""Lookups in a table of vectors."""

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import Unsupported, rule


@rule("torch.nn.functional.embedding")
def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if max_norm is not None:
        raise Unsupported("max_norm changes the weight in forward; normalise the rows before the lookup instead")
    if padding_idx is None and not scale_grad_by_freq:
        return weight[input]
    return embed(input, weight, padding_idx, scale_grad_by_freq)


@rule("torch.embedding")
def embedding_weight_first(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    if padding_idx == -1 and not scale_grad_by_freq:
        return weight[indices]
    return embed(indices, weight, padding_idx, scale_grad_by_freq)


def embed(input, weight, padding_idx=None, scale_grad_by_freq=False):
    """Rows of weight (n, d); row ``padding_idx`` gets no gradient, the others theirs divided by how often they occur."""
    rows = jnp.asarray(weight)[input]
    frozen = lax.stop_gradient(rows)
    if scale_grad_by_freq:
        count = jnp.zeros(len(weight), rows.dtype).at[input].add(1)[input]
        rows = frozen + (rows - frozen) / count[..., None]
    if padding_idx is not None:
        rows = jnp.where((input == padding_idx % len(weight))[..., None], frozen, rows)
    return rows


@rule("torch.nn.functional.embedding_bag")
def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    if max_norm is not None:
        raise Unsupported("max_norm changes the weight in forward; normalise the rows before the lookup instead")
    if scale_grad_by_freq:
        raise Unsupported("scale_grad_by_freq in bags scales some rows wrongly in torch; leave it out")
    if offsets is None:
        return embed_bags(input, weight, mode, per_sample_weights, padding_idx)
    return embed_flat_bags(input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx)


def embed_bags(input, weight, mode="mean", per_sample_weights=None, padding_idx=None):
    """The sum, mean or maximum of the rows in each bag: input (bags, length), result (bags, d)."""
    input, weight = _ids_first(input, weight)
    rows = weight[input] if per_sample_weights is None else weight[input] * per_sample_weights[..., None]
    keep = jnp.ones((*input.shape, 1), bool) if padding_idx is None else (input != padding_idx % len(weight))[..., None]
    count = keep.sum(axis=1)
    if mode == "max":
        best = jnp.where(keep, rows, -jnp.inf).max(axis=1, initial=-jnp.inf)
        return jnp.where(count > 0, best, 0)
    total = jnp.where(keep, rows, 0).sum(axis=1)
    return total / jnp.maximum(count, 1) if mode == "mean" else total


def embed_flat_bags(input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx):
    """The same for bags that follow each other in input (n,), each beginning at its offset; empty bags give 0."""
    input, weight = _ids_first(input, weight)
    bags = len(offsets) - 1 if include_last_offset else len(offsets)
    bag = jnp.searchsorted(offsets[:bags], jnp.arange(len(input)), side="right") - 1
    rows = weight[input] if per_sample_weights is None else weight[input] * per_sample_weights[:, None]
    keep = jnp.ones((len(input), 1), bool) if padding_idx is None else (input != padding_idx % len(weight))[:, None]
    count = jax.ops.segment_sum(keep.astype(int), bag, bags)
    if mode == "max":
        best = jax.ops.segment_max(jnp.where(keep, rows, -jnp.inf), bag, bags)
        return jnp.where(count > 0, best, 0)
    total = jax.ops.segment_sum(jnp.where(keep, rows, 0), bag, bags)
    return total / jnp.maximum(count, 1) if mode == "mean" else total


def _ids_first(input, weight):
    """torch still takes the two in their old order, the weight first."""
    ids, rows = (weight, input) if jnp.issubdtype(weight.dtype, jnp.integer) else (input, weight)
    return ids, jnp.asarray(rows)
