"""Losses with size_average and reduce, which torch replaced by reduction."""

from transpile.rule import rule

from .class_loss import cross_entropy, multilabel_soft_margin_loss, nll_loss
from .loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    kl_div,
    l1_loss,
    legacy_reduction,
    mse_loss,
    smooth_l1_loss,
)

# Each takes the arguments of one loss in torch's order. `reduction` counts only where both old ones are left out.


@rule("torch.nn.functional.mse_loss")
def mse_loss_legacy(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    if size_average is None and reduce is None:
        return mse_loss(input, target, reduction=reduction, weight=weight)
    return mse_loss(input, target, reduction=legacy_reduction(size_average, reduce), weight=weight)


@rule("torch.nn.functional.l1_loss")
def l1_loss_legacy(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    if size_average is None and reduce is None:
        return l1_loss(input, target, reduction=reduction, weight=weight)
    return l1_loss(input, target, reduction=legacy_reduction(size_average, reduce), weight=weight)


@rule("torch.nn.functional.smooth_l1_loss")
def smooth_l1_loss_legacy(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    if size_average is None and reduce is None:
        return smooth_l1_loss(input, target, reduction=reduction, beta=beta)
    return smooth_l1_loss(input, target, reduction=legacy_reduction(size_average, reduce), beta=beta)


@rule("torch.nn.functional.kl_div")
def kl_div_legacy(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    if size_average is None and reduce is None:
        return kl_div(input, target, reduction=reduction, log_target=log_target)
    return kl_div(input, target, reduction=legacy_reduction(size_average, reduce), log_target=log_target)


@rule("torch.nn.functional.binary_cross_entropy")
def binary_cross_entropy_legacy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    if size_average is None and reduce is None:
        return binary_cross_entropy(input, target, weight, reduction=reduction)
    return binary_cross_entropy(input, target, weight, reduction=legacy_reduction(size_average, reduce))


@rule("torch.nn.functional.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits_legacy(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    if size_average is None and reduce is None:
        return binary_cross_entropy_with_logits(input, target, weight, reduction=reduction, pos_weight=pos_weight)
    return binary_cross_entropy_with_logits(
        input, target, weight, reduction=legacy_reduction(size_average, reduce), pos_weight=pos_weight
    )


@rule("torch.nn.functional.multilabel_soft_margin_loss")
def multilabel_soft_margin_loss_legacy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    if size_average is None and reduce is None:
        return multilabel_soft_margin_loss(input, target, weight, reduction=reduction)
    return multilabel_soft_margin_loss(input, target, weight, reduction=legacy_reduction(size_average, reduce))


@rule("torch.nn.functional.nll_loss")
def nll_loss_legacy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    if size_average is None and reduce is None:
        return nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)
    return nll_loss(input, target, weight, ignore_index=ignore_index, reduction=legacy_reduction(size_average, reduce))


@rule("torch.nn.functional.cross_entropy")
def cross_entropy_legacy(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    if size_average is None and reduce is None:
        return cross_entropy(
            input, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
        )
    return cross_entropy(
        input,
        target,
        weight,
        ignore_index=ignore_index,
        reduction=legacy_reduction(size_average, reduce),
        label_smoothing=label_smoothing,
    )
