"""Padding layers."""

from transpile.layer import Module, layer

from ..padding import pad


class PadNd(Module):
    """Pads the last ``rank`` dims.

    ``padding`` is one number, or (before, after) pairs with the last dim first.
    """

    rank = 2
    mode = "constant"
    value = 0

    def __init__(self, padding):
        self.padding = (padding,) * (2 * self.rank) if isinstance(padding, int) else tuple(padding)

    def __call__(self, input):
        return pad(input, self.padding, self.mode, self.value)


@layer("torch.nn.modules.padding._ReflectionPadNd")
class ReflectionPadNd(PadNd):
    """Pads with the reflection about the edge, which is not repeated."""

    mode = "reflect"


@layer("torch.nn.modules.padding._ReplicationPadNd")
class ReplicationPadNd(PadNd):
    """Pads with the value at the edge."""

    mode = "replicate"


@layer("torch.nn.modules.padding._CircularPadNd")
class CircularPadNd(PadNd):
    """Pads with the values of the other end."""

    mode = "circular"


@layer("torch.nn.modules.padding._ConstantPadNd")
class ConstantPadNd(PadNd):
    """Pads with one value."""

    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value


@layer("torch.nn.ReflectionPad1d", "torch.nn.modules.padding.ReflectionPad1d")
class ReflectionPad1d(ReflectionPadNd):
    """Pads (N, C, L) or (C, L) with reflected values."""

    rank = 1


@layer("torch.nn.ReflectionPad2d", "torch.nn.modules.padding.ReflectionPad2d")
class ReflectionPad2d(ReflectionPadNd):
    """Pads (N, C, H, W) or (C, H, W) with reflected values."""

    rank = 2


@layer("torch.nn.ReflectionPad3d", "torch.nn.modules.padding.ReflectionPad3d")
class ReflectionPad3d(ReflectionPadNd):
    """Pads (N, C, D, H, W) or (C, D, H, W) with reflected values."""

    rank = 3


@layer("torch.nn.ReplicationPad1d", "torch.nn.modules.padding.ReplicationPad1d")
class ReplicationPad1d(ReplicationPadNd):
    """Pads (N, C, L) or (C, L) with the edge."""

    rank = 1


@layer("torch.nn.ReplicationPad2d", "torch.nn.modules.padding.ReplicationPad2d")
class ReplicationPad2d(ReplicationPadNd):
    """Pads (N, C, H, W) or (C, H, W) with the edge."""

    rank = 2


@layer("torch.nn.ReplicationPad3d", "torch.nn.modules.padding.ReplicationPad3d")
class ReplicationPad3d(ReplicationPadNd):
    """Pads (N, C, D, H, W) or (C, D, H, W) with the edge."""

    rank = 3


@layer("torch.nn.CircularPad1d", "torch.nn.modules.padding.CircularPad1d")
class CircularPad1d(CircularPadNd):
    """Pads (N, C, L) or (C, L) with the other end."""

    rank = 1


@layer("torch.nn.CircularPad2d", "torch.nn.modules.padding.CircularPad2d")
class CircularPad2d(CircularPadNd):
    """Pads (N, C, H, W) or (C, H, W) with the other end."""

    rank = 2


@layer("torch.nn.CircularPad3d", "torch.nn.modules.padding.CircularPad3d")
class CircularPad3d(CircularPadNd):
    """Pads (N, C, D, H, W) or (C, D, H, W) with the other end."""

    rank = 3


@layer("torch.nn.ConstantPad1d", "torch.nn.modules.padding.ConstantPad1d")
class ConstantPad1d(ConstantPadNd):
    """Pads (N, C, L) or (C, L) with one value."""

    rank = 1


@layer("torch.nn.ConstantPad2d", "torch.nn.modules.padding.ConstantPad2d")
class ConstantPad2d(ConstantPadNd):
    """Pads (N, C, H, W) or (C, H, W) with one value."""

    rank = 2


@layer("torch.nn.ConstantPad3d", "torch.nn.modules.padding.ConstantPad3d")
class ConstantPad3d(ConstantPadNd):
    """Pads (N, C, D, H, W) or (C, D, H, W) with one value."""

    rank = 3


@layer("torch.nn.ZeroPad1d", "torch.nn.modules.padding.ZeroPad1d")
class ZeroPad1d(ConstantPad1d):
    """Pads (N, C, L) or (C, L) with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)


@layer("torch.nn.ZeroPad2d", "torch.nn.modules.padding.ZeroPad2d")
class ZeroPad2d(ConstantPad2d):
    """Pads (N, C, H, W) or (C, H, W) with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)


@layer("torch.nn.ZeroPad3d", "torch.nn.modules.padding.ZeroPad3d")
class ZeroPad3d(ConstantPad3d):
    """Pads (N, C, D, H, W) or (C, D, H, W) with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)
