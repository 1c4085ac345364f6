"""Dropout layers: they drop in training only, and need a key then."""

from transpile.rule import layer

from .dropout import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from .module import Module


@layer("torch.nn.modules.dropout._DropoutNd")
class DropoutNd(Module):
    """Base of the dropouts: holds the probability."""

    def __init__(self, p=0.5, inplace=False):
        self.p = p


@layer("torch.nn.Dropout")
class Dropout(Module):
    """Zeros with probability p in training; the other values are scaled so that the mean stays."""

    def __init__(self, p=0.5, inplace=False):
        self.p = p

    def __call__(self, input, *, key=None, training=False):
        return dropout(input, self.p, training, key=key)


@layer("torch.nn.Dropout1d")
class Dropout1d(Module):
    """Zeroes whole channels of (N, C, L) or (C, L)."""

    def __init__(self, p=0.5, inplace=False):
        self.p = p

    def __call__(self, input, *, key=None, training=False):
        return dropout1d(input, self.p, training, key=key)


@layer("torch.nn.Dropout2d")
class Dropout2d(Module):
    """Zeroes whole channels of (N, C, H, W); three axes are read as (N, C, L)."""

    def __init__(self, p=0.5, inplace=False):
        self.p = p

    def __call__(self, input, *, key=None, training=False):
        return dropout2d(input, self.p, training, key=key)


@layer("torch.nn.Dropout3d")
class Dropout3d(Module):
    """Zeroes whole channels of (N, C, D, H, W) or (C, D, H, W)."""

    def __init__(self, p=0.5, inplace=False):
        self.p = p

    def __call__(self, input, *, key=None, training=False):
        return dropout3d(input, self.p, training, key=key)


@layer("torch.nn.AlphaDropout")
class AlphaDropout(Module):
    """Sets values to SELU's negative limit, and keeps mean and variance."""

    def __init__(self, p=0.5, inplace=False):
        self.p = p

    def __call__(self, input, *, key=None, training=False):
        return alpha_dropout(input, self.p, training, key=key)


@layer("torch.nn.FeatureAlphaDropout")
class FeatureAlphaDropout(Module):
    """Alpha dropout of whole channels."""

    def __init__(self, p=0.5, inplace=False):
        self.p = p

    def __call__(self, input, *, key=None, training=False):
        return feature_alpha_dropout(input, self.p, training, key=key)
