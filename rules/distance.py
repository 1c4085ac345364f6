"""Distances and similarities of vectors."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from transpile.rule import rule

from .loss import positive_part, reduce_loss
from .norms import vector_norm


@rule("torch.cosine_similarity", "torch.nn.functional.cosine_similarity")
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between vectors along ``dim``; lengths below eps count as eps."""
    x1, x2 = jnp.broadcast_arrays(x1, x2)
    product = unit_vector(x1, dim, eps) * unit_vector(x2, dim, eps)
    return product.sum(axis=dim) if product.ndim else product


def unit_vector(x, dim, eps):
    """``x`` divided by its length along ``dim``, or by eps where it is shorter."""
    length = vector_norm(x, dim=dim, keepdim=True)
    return x / (length + lax.stop_gradient(jnp.maximum(length, eps) - length))  # eps does not stop the gradient


@rule("torch.pairwise_distance", "torch.nn.functional.pairwise_distance")
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return vector_norm(x1 - x2 + eps, p, dim=-1, keepdim=keepdim)


@rule("torch.pdist", "torch.nn.functional.pdist")
def pdist(input, p=2.0):
    """The distances between the rows of (N, d), each pair once: (N * (N - 1) / 2,)."""
    i, j = np.triu_indices(input.shape[0], 1)
    return vector_norm(input[i] - input[j], p, dim=-1)


@rule("torch.nn.functional.cosine_embedding_loss")
def cosine_embedding_loss(input1, input2, target, margin=0, *, reduction="mean"):
    """1 - cosine where target is 1, the cosine above the margin where it is -1; for (N, d) or (d,)."""
    product = (input1 * input2).sum(axis=-1)
    squares = ((input1 * input1).sum(axis=-1) + 1e-12) * ((input2 * input2).sum(axis=-1) + 1e-12)
    cosine = product / jnp.sqrt(squares)
    near = jnp.where(target == 1, 1 - cosine, 0)
    return reduce_loss(near + jnp.where(target == -1, positive_part(cosine - margin), 0), reduction)


@rule("torch.nn.functional.triplet_margin_loss")
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, *, reduction="mean"):
    """Wants the anchor nearer to the positive than to the negative, by the margin."""
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = jnp.minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduce_loss(positive_part(margin + near - far), reduction)


@rule("torch.nn.functional.triplet_margin_with_distance_loss")
def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """The same with a distance of your own."""
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = jnp.minimum(far, distance(positive, negative))
    return reduce_loss(positive_part(margin + near - far), reduction)
