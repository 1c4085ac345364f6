"""What vision models take from timm: stochastic depth."""

from transpile.rule import layer

from .dropout import drop_path
from .module import Module


@layer("timm.layers.DropPath")
class DropPath(Module):
    """Stochastic depth: in training, the way around a residual block for some of the samples."""

    def __init__(self, drop_prob=0.0, scale_by_keep=True):
        self.drop_prob, self.scale_by_keep = drop_prob, scale_by_keep

    def __call__(self, x, *, key=None, training=False):
        return drop_path(x, self.drop_prob, training, self.scale_by_keep, key=key)
