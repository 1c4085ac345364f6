"""Layers that only reshape."""

from transpile.layer import Module, layer

from ..shape import flatten_dims, unflatten_dim


@layer("torch.nn.Flatten")
class Flatten(Module):
    """The axes from start_dim to end_dim, both included, as one."""

    def __init__(self, start_dim=1, end_dim=-1):
        self.start_dim, self.end_dim = start_dim, end_dim

    def __call__(self, input):
        return flatten_dims(input, self.start_dim, self.end_dim)


@layer("torch.nn.Unflatten")
class Unflatten(Module):
    """Axis ``dim`` as axes of these sizes; one of them may be -1."""

    def __init__(self, dim, unflattened_size):
        self.dim, self.unflattened_size = dim, unflattened_size

    def __call__(self, input):
        return unflatten_dim(input, self.dim, self.unflattened_size)
