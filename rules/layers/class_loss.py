"""Loss layers for class scores and for sequences."""

import math

from transpile.layer import layer

from ..class_loss import (
    cross_entropy,
    linear_cross_entropy,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
)
from ..ctc import ctc_loss
from .linear import Linear
from .loss import Loss, WeightedLoss


@layer("torch.nn.CrossEntropyLoss")
class CrossEntropyLoss(WeightedLoss):
    """Cross entropy of logits (N, C, ...) with class numbers, or with a distribution over them."""

    def __init__(
        self,
        weight=None,
        size_average=None,
        ignore_index=-100,
        reduce=None,
        reduction="mean",
        label_smoothing=0.0,
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def __call__(self, input, target):
        return cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


@layer("torch.nn.LinearCrossEntropyLoss")
class LinearCrossEntropyLoss(WeightedLoss):
    """A linear layer and the cross entropy of what it gives."""

    def __init__(
        self,
        in_features,
        num_classes,
        *,
        out_features=(),
        bias=False,
        reduction="mean",
        weight=None,
        ignore_index=None,
        label_smoothing=0.0,
        options=None,
    ):
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.linear = Linear(in_features, num_classes * math.prod(out_features), bias)

    def __call__(self, input, target):
        shape = (self.num_classes, *self.out_features)
        linear = self.linear
        return linear_cross_entropy(
            input,
            linear.weight.reshape(*shape, -1),
            target,
            linear_bias=None if linear.bias is None else linear.bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
        )


@layer("torch.nn.NLLLoss", "torch.nn.NLLLoss2d")
class NLLLoss(WeightedLoss):
    """Minus the log-probability of the target class."""

    def __init__(
        self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def __call__(self, input, target):
        return nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


@layer("torch.nn.MultiMarginLoss")
class MultiMarginLoss(WeightedLoss):
    """What each class lacks to stand the margin below the target's, to the power p."""

    def __init__(
        self, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.p, self.margin = p, margin

    def __call__(self, input, target):
        return multi_margin_loss(
            input, target, self.p, self.margin, self.weight, reduction=self.reduction
        )


@layer("torch.nn.MultiLabelMarginLoss")
class MultiLabelMarginLoss(Loss):
    """What other classes lack to stand 1 below the targets."""

    def __call__(self, input, target):
        return multilabel_margin_loss(input, target, reduction=self.reduction)


@layer("torch.nn.MultiLabelSoftMarginLoss")
class MultiLabelSoftMarginLoss(WeightedLoss):
    """Binary cross entropy of logits, averaged over the classes."""

    def __call__(self, input, target):
        return multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


@layer("torch.nn.CTCLoss")
class CTCLoss(Loss):
    """Minus the log-probability of all alignments of a sequence of labels."""

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def __call__(self, log_probs, targets, input_lengths, target_lengths):
        return ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
