"""Losses between predictions and targets, element by element."""

import math

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import rule


def reduce_loss(loss, reduction):
    """All losses as they are ("none"), their sum, or their mean."""
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise ValueError(f"reduction must be 'mean', 'sum' or 'none', not {reduction!r}")


def weighted_loss(loss, weight, reduction):
    """The same for losses with weights; the mean divides by their sum."""
    if weight is None:
        return reduce_loss(loss, reduction)
    if reduction == "mean":
        return (loss * weight).sum() / weight.sum()
    return reduce_loss(loss * weight, reduction)


def positive_part(x):
    """``x``, or 0 where it is negative; at 0 itself the gradient passes."""
    return jnp.where(x < 0, 0, x)


@rule("torch.nn._reduction.get_enum", "torch.nn.functional._Reduction.get_enum")
def reduction_enum(reduction):
    return ("none", "mean", "sum").index(reduction)


@rule("torch.nn._reduction.legacy_get_string", "torch.nn.functional._Reduction.legacy_get_string")
def legacy_reduction(size_average, reduce, emit_warning=True):
    if reduce is not None and not reduce:
        return "none"
    if size_average is None or size_average:
        return "mean"
    return "sum"


@rule("torch.nn._reduction.legacy_get_enum", "torch.nn.functional._Reduction.legacy_get_enum")
def legacy_reduction_enum(size_average, reduce, emit_warning=True):
    return reduction_enum(legacy_reduction(size_average, reduce))


@rule("torch.nn.functional.mse_loss")
def mse_loss(input, target, *, reduction="mean", weight=None):
    if weight is None and reduction == "mean":
        return jnp.mean((input - target) ** 2)
    if weight is None and reduction == "sum":
        return jnp.sum((input - target) ** 2)
    if weight is None and reduction == "none":
        return (input - target) ** 2
    return weighted_loss((input - target) ** 2, weight, reduction)


@rule("torch.nn.functional.l1_loss")
def l1_loss(input, target, *, reduction="mean", weight=None):
    """The distance of input and target; it has no gradient where they are equal, where jnp.abs has one."""
    difference = input - target
    return weighted_loss(jnp.where(difference == 0, 0, jnp.abs(difference)), weight, reduction)


@rule("torch.nn.functional.smooth_l1_loss")
def smooth_l1_loss(input, target, *, reduction="mean", beta=1.0):
    """The distance of input and target less beta / 2; below beta a parabola."""
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    distance = jnp.abs(input - target)
    return reduce_loss(jnp.where(distance < beta, distance**2 / (2 * beta), distance - beta / 2), reduction)


@rule("torch.nn.functional.huber_loss")
def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Half the squared distance of input and target; from delta on a line of slope delta."""
    distance = jnp.abs(input - target)
    loss = jnp.where(distance <= delta, distance**2 / 2, delta * (distance - delta / 2))
    return reduce_loss(loss if weight is None else loss * weight, reduction)


@rule("torch.nn.functional.binary_cross_entropy")
def binary_cross_entropy(input, target, weight=None, *, reduction="mean"):
    """Cross entropy of the probability ``input`` and ``target`` in [0, 1]."""
    loss = _clamped_entropy(input, target)
    return reduce_loss(loss if weight is None else loss * weight, reduction)


@jax.custom_jvp
def _clamped_entropy(p, target):
    log_p, log_q = jnp.maximum(jnp.log(p), -100), jnp.maximum(jnp.log1p(-p), -100)
    return (target - 1) * log_q - target * log_p


@_clamped_entropy.defjvp
def _clamped_entropy_jvp(primals, tangents):
    (p, target), (p_dot, target_dot) = primals, tangents
    slope = (p - target) / jnp.maximum(p * (1 - p), 1e-12)  # finite at p = 0 and 1
    return _clamped_entropy(p, target), slope * p_dot + (jnp.log1p(-p) - jnp.log(p)) * target_dot


@rule("torch.nn.functional.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(input, target, weight=None, *, reduction="mean", pos_weight=None):
    """Cross entropy of sigmoid(input) and ``target`` in [0, 1]; ``pos_weight`` counts the positive part more."""
    positive = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    loss = (1 - target) * input - positive * jax.nn.log_sigmoid(input)
    return reduce_loss(loss if weight is None else loss * weight, reduction)


@rule("torch.nn.functional.kl_div")
def kl_div(input, target, *, reduction="mean", log_target=False):
    """The divergence of the log-probabilities ``input`` from ``target``, per element; "batchmean" is per row."""
    if log_target:
        loss = jnp.exp(target) * (target - input)
    else:
        loss = jax.scipy.special.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return loss.sum() / input.shape[0] if input.ndim else loss.sum()
    return reduce_loss(loss, reduction)


@rule("torch.nn.functional.poisson_nll_loss")
def poisson_nll_loss(input, target, log_input=True, full=False, *, eps=1e-8, reduction="mean"):
    """Negative log-likelihood of counts; ``input`` is the rate, or its logarithm."""
    loss = jnp.exp(input) - target * input if log_input else input - target * jnp.log(input + eps)
    if full:  # Stirling's formula for log(target!)
        stirling = target * jnp.log(target) - target + 0.5 * jnp.log(2 * math.pi * target)
        loss = loss + jnp.where(target > 1, stirling, 0)
    return reduce_loss(loss, reduction)


@rule("torch.nn.functional.gaussian_nll_loss")
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Negative log-likelihood of ``target`` under a normal distribution; ``var`` may lack the last axis."""
    var = jnp.asarray(var, input.dtype)
    if var.ndim and var.shape == input.shape[:-1]:
        var = var[..., None]
    var = var + lax.stop_gradient(jnp.maximum(var, eps) - var)  # the limit does not stop the gradient
    loss = 0.5 * (jnp.log(var) + (input - target) ** 2 / var)
    return reduce_loss(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


@rule("torch.nn.functional.soft_margin_loss")
def soft_margin_loss(input, target, *, reduction="mean"):
    """log(1 + exp(-target * input)), with targets 1 and -1."""
    return reduce_loss(jnp.log1p(jnp.exp(-target * input)), reduction)


@rule("torch.nn.functional.hinge_embedding_loss")
def hinge_embedding_loss(input, target, margin=1.0, *, reduction="mean"):
    """The distance ``input`` where target is 1, what it lacks to the margin where target is -1."""
    near = jnp.where(target != -1, input, 0)
    far = jnp.where(target != 1, positive_part(margin - input), 0)
    return reduce_loss(near + far, reduction)


@rule("torch.nn.functional.margin_ranking_loss")
def margin_ranking_loss(input1, input2, target, margin=0, *, reduction="mean"):
    """Wants input1 above input2 by the margin where target is 1, below it where target is -1."""
    return reduce_loss(positive_part(margin - target * (input1 - input2)), reduction)
