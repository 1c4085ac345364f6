"""Distance layers, and losses by distance."""

from transpile.layer import Module, layer

from ..distance import (
    cosine_embedding_loss,
    cosine_similarity,
    pairwise_distance,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from .loss import Loss


@layer("torch.nn.CosineSimilarity")
class CosineSimilarity(Module):
    """The cosine of the angle between vectors along one axis."""

    def __init__(self, dim=1, eps=1e-8):
        self.dim, self.eps = dim, eps

    def __call__(self, x1, x2):
        return cosine_similarity(x1, x2, self.dim, self.eps)


@layer("torch.nn.PairwiseDistance")
class PairwiseDistance(Module):
    """The p-norm of the difference along the last axis."""

    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def __call__(self, x1, x2):
        return pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


@layer("torch.nn.CosineEmbeddingLoss")
class CosineEmbeddingLoss(Loss):
    """1 - cosine where target is 1, the cosine above the margin where it is -1."""

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def __call__(self, input1, input2, target):
        return cosine_embedding_loss(input1, input2, target, self.margin, reduction=self.reduction)


@layer("torch.nn.TripletMarginLoss")
class TripletMarginLoss(Loss):
    """Wants the anchor nearer to the positive than to the negative."""

    def __init__(
        self,
        margin=1.0,
        p=2.0,
        eps=1e-6,
        swap=False,
        size_average=None,
        reduce=None,
        reduction="mean",
    ):
        super().__init__(size_average, reduce, reduction)
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def __call__(self, anchor, positive, negative):
        return triplet_margin_loss(
            anchor,
            positive,
            negative,
            self.margin,
            self.p,
            self.eps,
            self.swap,
            reduction=self.reduction,
        )


@layer("torch.nn.TripletMarginWithDistanceLoss")
class TripletMarginWithDistanceLoss(Loss):
    """The same with a distance of your own."""

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__(reduction=reduction)
        self.distance_function, self.margin, self.swap = distance_function, margin, swap

    def __call__(self, anchor, positive, negative):
        return triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
