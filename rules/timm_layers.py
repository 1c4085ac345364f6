"""What vision models take from timm: stochastic depth."""

from transpile.rule import layer, rule

from .dropout import drop
from .module import Module


@rule("timm.layers.drop_path")
def drop_path(x, drop_prob=0.0, training=False, scale_by_keep=True, *, key=None):
    """Zeroes whole samples with probability drop_prob; the others are scaled so that the mean stays, unless told not to."""
    if not training or not drop_prob:
        return x
    kept = drop(x, drop_prob, (x.shape[0], *[1] * (x.ndim - 1)), key)
    return kept if scale_by_keep else kept * (1 - drop_prob)


@layer("timm.layers.DropPath")
class DropPath(Module):
    """Stochastic depth: in training, the way around a residual block for some of the samples."""

    def __init__(self, drop_prob=0.0, scale_by_keep=True):
        self.drop_prob, self.scale_by_keep = drop_prob, scale_by_keep

    def __call__(self, x, *, key=None, training=False):
        return drop_path(x, self.drop_prob, training, self.scale_by_keep, key=key)
