"""The layers of einops, which are torch modules around functions that take JAX arrays as well."""

import einops

from transpile.layer import Module, layer


@layer("einops.layers.torch.Rearrange")
class Rearrange(Module):
    """``einops.rearrange`` by a fixed pattern."""

    def __init__(self, pattern, **sizes):
        self.pattern, self.sizes = pattern, sizes

    def __call__(self, input):
        return einops.rearrange(input, self.pattern, **self.sizes)


@layer("einops.layers.torch.Reduce")
class Reduce(Module):
    """``einops.reduce`` by a fixed pattern."""

    def __init__(self, pattern, reduction, **sizes):
        self.pattern, self.reduction, self.sizes = pattern, reduction, sizes

    def __call__(self, input):
        return einops.reduce(input, self.pattern, self.reduction, **self.sizes)
