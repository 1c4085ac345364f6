"""Layers an array of which is computed from others: weight norm, spectral norm, parametrizations."""
# mypy: ignore-errors
# ruff: noqa: F821  (as_matrix, norm_except and the like are definitions of the rules)

import functools

from flax import nnx
from jax import lax

from .prelude import Buffer


class Computed(nnx.Variable):
    """An array that was computed: what is written into it goes to its source, or is lost."""

    def set_value(self, value, **index):
        if self.source is not None:
            self.source.set_value(value, **index)


def computing(layer, cls):
    """The layer as one of a subclass of its class."""
    object.__setattr__(layer, "__class__", cls)
    return layer


def weight_norm(module, name="weight", dim=0):
    """Give a layer the weight ``g * v / |v|`` in the place of one of its own."""
    v = getattr(module, name)[...]
    delattr(module, name)
    setattr(module, f"{name}_g", nnx.Param(norm_except(v, dim)))
    setattr(module, f"{name}_v", nnx.Param(v))
    return computing(module, weight_normed(type(module), name, dim))


@functools.cache
def weight_normed(cls, name, dim):
    """A class of layers, which has the array of this name computed."""

    def array(self):
        g, v = getattr(self, f"{name}_g")[...], getattr(self, f"{name}_v")[...]
        return Computed(v * (g / norm_except(v, dim)), source=None)

    return type(cls.__name__, (cls,), {name: property(array)})


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None, *, rngs):
    """Divide the weight of a layer by its largest singular value, which is estimated by power
    iteration as the layer trains."""
    dim, weight = output_dim(module) if dim is None else dim, getattr(module, name)
    rows, columns = as_matrix(weight[...], dim).shape
    delattr(module, name)
    setattr(module, f"{name}_orig", weight)
    setattr(module, f"{name}_u", Buffer(unit(rngs.params.normal((rows,)), eps)))
    setattr(module, f"{name}_v", Buffer(unit(rngs.params.normal((columns,)), eps)))
    cls = spectrally_normed(type(module), name, n_power_iterations, eps, dim)
    return computing(module, cls)


@functools.cache
def spectrally_normed(cls, name, n_power_iterations, eps, dim):
    """A class of layers, which has the array of this name computed."""

    class Normed(cls):
        deterministic = False

        def set_view(self, deterministic: bool | None = None, **others):
            if deterministic is not None:
                self.deterministic = deterministic
            if hasattr(cls, "set_view"):
                super().set_view(**others)

        def __call__(self, *args, **kwargs):
            if not self.deterministic:
                u, v = getattr(self, f"{name}_u"), getattr(self, f"{name}_v")
                weight = lax.stop_gradient(as_matrix(getattr(self, f"{name}_orig")[...], dim))
                for _ in range(n_power_iterations):
                    v[...] = unit(weight.T @ u[...], eps)
                    u[...] = unit(weight @ v[...], eps)
            return super().__call__(*args, **kwargs)

        def array(self):
            u, v = getattr(self, f"{name}_u")[...], getattr(self, f"{name}_v")[...]
            weight = getattr(self, f"{name}_orig")
            normed = weight[...] / (u @ as_matrix(weight[...], dim) @ v)
            return Computed(normed, source=weight)  # as in torch until the first call

    Normed.__name__ = cls.__name__
    setattr(Normed, name, property(Normed.array))
    return Normed


class ParametrizationList(nnx.Module):
    """What an array is computed from: an original, or several, by functions under numbers."""

    def __init__(self, variable):
        self.count, self.original = 0, variable

    def add(self, function):
        """Compute the array by one more function; its inverse gives what it is computed from."""
        setattr(self, str(self.count), function)
        self.count += 1
        if not hasattr(function, "right_inverse"):
            return
        kind, originals = type(self.original), function.right_inverse(self.original[...])
        if not isinstance(originals, tuple):
            self.original = kind(originals)
            return
        del self.original
        for i, value in enumerate(originals):
            setattr(self, f"original{i}", kind(value))

    def __call__(self):
        if hasattr(self, "original"):
            values = [self.original[...]]
        else:
            values = [self.original0[...], self.original1[...]]
        for i in range(self.count):
            values = [getattr(self, str(i))(*values)]
        return values[0]


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Compute an array of a layer by a module, from an original of its own."""
    if not hasattr(module, "parametrizations"):
        module.parametrizations = nnx.Dict()
    if tensor_name not in module.parametrizations:
        module.parametrizations[tensor_name] = ParametrizationList(getattr(module, tensor_name))
        delattr(module, tensor_name)
        computing(module, parametrized(type(module), tensor_name))
    module.parametrizations[tensor_name].add(parametrization)
    return module


@functools.cache
def parametrized(cls, name):
    """A class of layers, which has the array of this name computed."""
    array = property(lambda self: Computed(self.parametrizations[name](), source=None))
    return type(f"Parametrized{cls.__name__}", (cls,), {name: array})


def parametrized_weight_norm(module, name="weight", dim=0):
    """Give a layer the weight ``g * v / |v|``: ``original0`` is g, ``original1`` is v."""
    return register_parametrization(module, name, WeightNormFunction(dim))


def parametrized_spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None, *, rngs):
    """Divide the weight of a layer by its largest singular value."""
    dim, weight = output_dim(module) if dim is None else dim, getattr(module, name)[...]
    function = SpectralNormFunction(weight, n_power_iterations, dim, eps, rngs=rngs)
    return register_parametrization(module, name, function)
