"""Loss layers, element by element."""

from transpile.layer import Buffer, Module, layer

from ..loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    legacy_reduction,
    margin_ranking_loss,
    mse_loss,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
)


@layer("torch.nn.modules.loss._Loss")
class Loss(Module):
    """Base of the losses: knows how to reduce, for which torch has two old words."""

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        self.reduction = reduction
        if size_average is not None or reduce is not None:
            self.reduction = legacy_reduction(size_average, reduce)


@layer("torch.nn.modules.loss._WeightedLoss")
class WeightedLoss(Loss):
    """Base of the losses with fixed weights, which are saved with the model."""

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.weight = None if weight is None else Buffer(weight)


@layer("torch.nn.MSELoss")
class MSELoss(Loss):
    """The squared difference."""

    def __call__(self, input, target):
        return mse_loss(input, target, reduction=self.reduction)


@layer("torch.nn.L1Loss")
class L1Loss(Loss):
    """The distance."""

    def __call__(self, input, target):
        return l1_loss(input, target, reduction=self.reduction)


@layer("torch.nn.SmoothL1Loss")
class SmoothL1Loss(Loss):
    """The distance less beta / 2; below beta a parabola."""

    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def __call__(self, input, target):
        return smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


@layer("torch.nn.HuberLoss")
class HuberLoss(Loss):
    """Half the squared difference; from delta on a line of slope delta."""

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction=reduction)
        self.delta = delta

    def __call__(self, input, target):
        return huber_loss(input, target, self.reduction, self.delta)


@layer("torch.nn.BCELoss")
class BCELoss(WeightedLoss):
    """Cross entropy of probabilities."""

    def __call__(self, input, target):
        return binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


@layer("torch.nn.BCEWithLogitsLoss")
class BCEWithLogitsLoss(WeightedLoss):
    """Cross entropy of sigmoid(input)."""

    def __init__(
        self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.pos_weight = None if pos_weight is None else Buffer(pos_weight)

    def __call__(self, input, target):
        return binary_cross_entropy_with_logits(
            input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


@layer("torch.nn.KLDivLoss")
class KLDivLoss(Loss):
    """The divergence of log-probabilities from a distribution."""

    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def __call__(self, input, target):
        return kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


@layer("torch.nn.PoissonNLLLoss")
class PoissonNLLLoss(Loss):
    """Negative log-likelihood of counts."""

    def __init__(
        self, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"
    ):
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def __call__(self, log_input, target):
        return poisson_nll_loss(
            log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction
        )


@layer("torch.nn.GaussianNLLLoss")
class GaussianNLLLoss(Loss):
    """Negative log-likelihood under a normal distribution."""

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    def __call__(self, input, target, var):
        return gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


@layer("torch.nn.SoftMarginLoss")
class SoftMarginLoss(Loss):
    """log(1 + exp(-target * input))."""

    def __call__(self, input, target):
        return soft_margin_loss(input, target, reduction=self.reduction)


@layer("torch.nn.HingeEmbeddingLoss")
class HingeEmbeddingLoss(Loss):
    """The distance where target is 1, what it lacks to the margin where target is -1."""

    def __init__(self, margin=1.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def __call__(self, input, target):
        return hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


@layer("torch.nn.MarginRankingLoss")
class MarginRankingLoss(Loss):
    """Wants input1 above input2 where target is 1, below it where target is -1."""

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def __call__(self, input1, input2, target):
        return margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)
