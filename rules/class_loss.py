"""Losses of class scores."""

import jax
import jax.numpy as jnp

from transpile.rule import rule

from .loss import reduce_loss


@rule("torch.nn.functional.cross_entropy")
def cross_entropy(input, target, weight=None, *, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """Cross entropy of the logits (N, C, ...) or (C,) with class numbers, or with a distribution over the classes."""
    axis = min(1, input.ndim - 1)
    log_p = jax.nn.log_softmax(input, axis=axis)
    if jnp.issubdtype(target.dtype, jnp.floating):
        return distribution_loss(log_p, target, weight, reduction, label_smoothing)
    loss = nll_loss(log_p, target, weight, ignore_index=ignore_index, reduction=reduction)
    if label_smoothing == 0:
        return loss
    keep = target != ignore_index
    scores = log_p if weight is None else log_p * along(weight, input)
    smooth = -jnp.where(keep, scores.sum(axis=axis), 0)
    if reduction == "mean":
        smooth = smooth.sum() / class_weights(target, weight, keep, log_p.dtype).sum()
    else:
        smooth = reduce_loss(smooth, reduction)
    return (1 - label_smoothing) * loss + label_smoothing / input.shape[axis] * smooth


@rule("torch.nn.functional.linear_cross_entropy")
def linear_cross_entropy(
    input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=None,
    label_smoothing=0.0, options=None,
):  # fmt: skip
    """Cross entropy of ``input @ linear_weight.T``; options only save memory in torch, and change nothing here."""
    logits = jnp.tensordot(input, linear_weight, (-1, -1))
    if linear_bias is not None:
        logits = logits + linear_bias
    ignore_index = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        logits, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )


def distribution_loss(log_p, target, weight, reduction, label_smoothing):
    """Cross entropy with a distribution over the classes; the mean is over batch and positions."""
    axis = min(1, log_p.ndim - 1)
    classes = log_p.shape[axis]
    if label_smoothing != 0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    loss = -log_p * target if weight is None else -log_p * target * along(weight, log_p)
    if reduction == "mean":
        return loss.sum() / (log_p.size // classes)
    return reduce_loss(loss.sum(axis=axis), reduction)


@rule("torch.nn.functional.nll_loss")
def nll_loss(input, target, weight=None, *, ignore_index=-100, reduction="mean"):
    """Minus the log-probability (N, C, ...) or (C,) of the target class; the mean divides by the weights used."""
    axis = min(1, input.ndim - 1)
    keep = target != ignore_index
    index = jnp.expand_dims(jnp.where(keep, target, 0), axis)
    weights = class_weights(target, weight, keep, input.dtype)
    loss = -jnp.where(keep, jnp.take_along_axis(input, index, axis=axis).squeeze(axis), 0) * weights
    return loss.sum() / weights.sum() if reduction == "mean" else reduce_loss(loss, reduction)


def class_weights(target, weight, keep, dtype):
    """The weight of each target's class, 0 where it is ignored."""
    return keep.astype(dtype) if weight is None else jnp.where(keep, jnp.asarray(weight)[jnp.where(keep, target, 0)], 0)


def along(weight, input):
    """A vector over the classes in the shape in which it multiplies (N, C, ...) or (C,)."""
    return weight.reshape(-1, *[1] * (input.ndim - 2))


@rule("torch.nn.functional.multi_margin_loss")
def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, *, reduction="mean"):
    """What each class score (N, C) or (C,) lacks to stand the margin below the target's, to the power p."""
    input = jnp.atleast_1d(input)
    index = target.reshape(*input.shape[:-1], 1)
    gap = jax.nn.relu(margin - jnp.take_along_axis(input, index, axis=-1) + input) ** p
    others = jnp.arange(input.shape[-1]) != index
    if weight is not None:
        gap = gap * jnp.asarray(weight)[index]
    return reduce_loss(jnp.where(others, gap, 0).sum(axis=-1) / input.shape[-1], reduction)


@rule("torch.nn.functional.multilabel_margin_loss")
def multilabel_margin_loss(input, target, *, reduction="mean"):
    """What the scores (N, C) of other classes lack to stand 1 below those of the targets, listed up to the first -1."""
    input, target = jnp.atleast_1d(input), jnp.atleast_1d(target)
    listed = jnp.cumprod(target >= 0, axis=-1).astype(bool)
    index = jnp.where(listed, target, 0)
    classes = jnp.arange(input.shape[-1])
    is_target = ((index[..., None] == classes) & listed[..., None]).any(axis=-2)
    score = jnp.take_along_axis(input, index, axis=-1)
    gap = jax.nn.relu(1 - score[..., :, None] + input[..., None, :])
    counted = listed[..., :, None] & ~is_target[..., None, :]
    return reduce_loss(jnp.where(counted, gap, 0).sum(axis=(-2, -1)) / input.shape[-1], reduction)


@rule("torch.nn.functional.multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(input, target, weight=None, *, reduction="mean"):
    """Binary cross entropy of the logits (N, C), averaged over the classes."""
    loss = -(target * jax.nn.log_sigmoid(input) + (1 - target) * jax.nn.log_sigmoid(-input))
    return reduce_loss((loss if weight is None else loss * weight).mean(axis=-1), reduction)
