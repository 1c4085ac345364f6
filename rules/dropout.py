"""Dropout in all its forms."""

import jax
import jax.numpy as jnp

from transpile.rule import rule


@rule("torch.nn.functional.dropout")
def dropout(input, p=0.5, training=True, *, key=None):
    """Each value is 0 with probability p; the others are scaled so that the mean stays."""
    if not training or p == 0:
        return input
    return drop(input, p, input.shape, key)


@rule("torch.dropout")
def dropout_train(input, p, train, *, key=None):
    return dropout(input, p, train, key=key)


@rule("torch.nn.functional.dropout1d")
def dropout1d(input, p=0.5, training=True, *, key=None):
    """Drops whole channels of (N, C, L) or (C, L)."""
    if not training or p == 0:
        return input
    return drop(input, p, (*input.shape[:-1], 1), key)


@rule("torch.nn.functional.dropout2d")
def dropout2d(input, p=0.5, training=True, *, key=None):
    """Drops whole channels of (N, C, ...); three axes are (N, C, L), not (C, H, W)."""
    if not training or p == 0:
        return input
    return drop(input, p, (*input.shape[:2], *[1] * (input.ndim - 2)), key)


@rule("torch.feature_dropout")
def feature_dropout(input, p, train, *, key=None):
    return dropout2d(input, p, train, key=key)


@rule("torch.nn.functional.dropout3d")
def dropout3d(input, p=0.5, training=True, *, key=None):
    """Drops whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    if not training or p == 0:
        return input
    return drop(input, p, (*input.shape[:-3], 1, 1, 1), key)


@rule("torch.nn.functional.alpha_dropout")
def alpha_dropout(input, p=0.5, training=False, *, key=None):
    """Dropout to SELU's negative limit, which keeps mean and variance."""
    if not training or p == 0:
        return input
    return drop_alpha(input, p, input.shape, key)


@rule("torch.alpha_dropout")
def alpha_dropout_train(input, p, train, *, key=None):
    return alpha_dropout(input, p, train, key=key)


@rule("torch.nn.functional.feature_alpha_dropout")
def feature_alpha_dropout(input, p=0.5, training=False, *, key=None):
    """Alpha dropout of whole channels of (N, C, ...)."""
    if not training or p == 0:
        return input
    return drop_alpha(input, p, (*input.shape[:2], *[1] * (input.ndim - 2)), key)


@rule("torch.feature_alpha_dropout")
def feature_alpha_dropout_train(input, p, train, *, key=None):
    return feature_alpha_dropout(input, p, train, key=key)


def drop(input, p, shape, key):
    """Zeros with probability p, drawn once for each place of ``shape``, which broadcasts to input's."""
    if p == 1:
        return jnp.zeros_like(input)
    return jnp.where(jax.random.bernoulli(key, 1 - p, shape), input / (1 - p), 0)


def drop_alpha(input, p, shape, key):
    """SELU's limit with probability p, drawn once for each place of ``shape``; then scaled to unit variance."""
    if p == 1:
        return jnp.zeros_like(input)
    limit = -1.7580993408473766  # -scale * alpha of SELU
    scale = ((1 - p) * (1 + p * limit**2)) ** -0.5
    keep = jax.random.bernoulli(key, 1 - p, shape)
    return jnp.where(keep, input, limit) * scale - scale * limit * p


@rule("timm.layers.drop_path")
def drop_path(x, drop_prob=0.0, training=False, scale_by_keep=True, *, key=None):
    """Zeroes whole samples with probability drop_prob; the others are scaled so that the mean stays, unless told not to."""
    if not training or not drop_prob:
        return x
    kept = drop(x, drop_prob, (x.shape[0], *[1] * (x.ndim - 1)), key)
    return kept if scale_by_keep else kept * (1 - drop_prob)
