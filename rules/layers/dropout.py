"""Dropout layers: they drop, and draw, in training only."""

from transpile.layer import Module, draw_key, layer

from ..dropout import (
    alpha_dropout,
    drop_path,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)


@layer("torch.nn.modules.dropout._DropoutNd")
class DropoutNd(Module):
    """Base of the dropouts: holds the probability."""

    def __init__(self, p=0.5, inplace=False):
        self.p, self.inplace = p, inplace


@layer("torch.nn.Dropout")
class Dropout(DropoutNd):
    """Zeros with probability p in training; the other values are scaled so that the mean stays."""

    def __call__(self, input):
        if not self.training:
            return input
        return dropout(input, self.p, key=draw_key())


@layer("torch.nn.Dropout1d")
class Dropout1d(DropoutNd):
    """Zeroes whole channels of (N, C, L) or (C, L)."""

    def __call__(self, input):
        if not self.training:
            return input
        return dropout1d(input, self.p, key=draw_key())


@layer("torch.nn.Dropout2d")
class Dropout2d(DropoutNd):
    """Zeroes whole channels of (N, C, H, W); three axes are read as (N, C, L)."""

    def __call__(self, input):
        if not self.training:
            return input
        return dropout2d(input, self.p, key=draw_key())


@layer("torch.nn.Dropout3d")
class Dropout3d(DropoutNd):
    """Zeroes whole channels of (N, C, D, H, W) or (C, D, H, W)."""

    def __call__(self, input):
        if not self.training:
            return input
        return dropout3d(input, self.p, key=draw_key())


@layer("torch.nn.AlphaDropout")
class AlphaDropout(DropoutNd):
    """Sets values to SELU's negative limit, and keeps mean and variance."""

    def __call__(self, input):
        if not self.training:
            return input
        return alpha_dropout(input, self.p, training=True, key=draw_key())


@layer("torch.nn.FeatureAlphaDropout")
class FeatureAlphaDropout(DropoutNd):
    """Alpha dropout of whole channels."""

    def __call__(self, input):
        if not self.training:
            return input
        return feature_alpha_dropout(input, self.p, training=True, key=draw_key())


@layer("timm.layers.DropPath")
class DropPath(Module):
    """Stochastic depth: in training, the way around a residual block for some of the samples."""

    def __init__(self, drop_prob=0.0, scale_by_keep=True):
        self.drop_prob, self.scale_by_keep = drop_prob, scale_by_keep

    def __call__(self, x):
        if not self.training:
            return x
        return drop_path(x, self.drop_prob, True, self.scale_by_keep, key=draw_key())
