"""Weights that are computed from other arrays before each call: weight norm and spectral norm."""

import jax
import jax.numpy as jnp
from jax import lax

from transpile.layer import Buffer, Flat, Module, Parameter, draw_key, layer, with_array

from ..norms import vector_norm
from ..parametrization import norm_except, unit
from .containers import ModuleDict


class Reparametrized(Module):
    """A layer of which one array, ``name``, is computed; in all else it stands for the layer."""

    def __init__(self, module, name="weight"):
        self.module, self.name = Flat(module), name

    def take(self):
        """The layer's own first array, which it gives up."""
        value = getattr(self.module, self.name)
        setattr(self.module, self.name, None)
        return value

    def __call__(self, *args, **kwargs):
        return with_array(self.module, self.name, self.array())(*args, **kwargs)

    def __getattr__(self, attribute):
        try:
            return super().__getattr__(attribute)
        except AttributeError:
            if attribute in ("module", "name"):  # not set yet
                raise
        return self.array() if attribute == self.name else getattr(self.module, attribute)


def as_matrix(weight, dim):
    """``weight`` with one row for each output, which stand along ``dim``."""
    return jnp.moveaxis(weight, dim, 0).reshape(weight.shape[dim], -1)


def output_dim(module):
    """Where the outputs stand in the weight of a layer."""
    return int(any(cls.__name__.startswith("ConvTranspose") for cls in type(module).__mro__))


@layer("torch.nn.utils.weight_norm")
class WeightNorm(Reparametrized):
    """A layer with the weight ``g * v / |v|``."""

    def __init__(self, module, name="weight", dim=0):
        super().__init__(module, name)
        self.dim = dim
        v = self.take()
        setattr(self, f"{name}_g", Parameter(norm_except(v, dim)))
        setattr(self, f"{name}_v", Parameter(v))

    def array(self):
        g, v = getattr(self, f"{self.name}_g"), getattr(self, f"{self.name}_v")
        return v * (g / norm_except(v, self.dim))


@layer("torch.nn.utils.spectral_norm")
class SpectralNorm(Reparametrized):
    """A layer whose weight is divided by its largest singular value.

    That is estimated by power iteration, which goes on in training; the singular vectors are kept.
    """

    def __init__(self, module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
        super().__init__(module, name)
        self.dim = output_dim(module) if dim is None else dim
        self.n_power_iterations, self.eps = n_power_iterations, eps
        weight = self.take()
        rows, columns = as_matrix(weight, self.dim).shape
        setattr(self, f"{name}_orig", Parameter(weight))
        setattr(self, f"{name}_u", Buffer(unit(jax.random.normal(draw_key(), (rows,)), eps)))
        setattr(self, f"{name}_v", Buffer(unit(jax.random.normal(draw_key(), (columns,)), eps)))

    def array(self):
        weight = getattr(self, f"{self.name}_orig")
        u, v = getattr(self, f"{self.name}_u"), getattr(self, f"{self.name}_v")
        matrix = as_matrix(weight, self.dim)
        if self.training:
            fixed = lax.stop_gradient(matrix)
            for _ in range(self.n_power_iterations):
                v = unit(fixed.T @ u, self.eps)
                u = unit(fixed @ v, self.eps)
            setattr(self, f"{self.name}_u", u)
            setattr(self, f"{self.name}_v", v)
        return weight / (u @ matrix @ v)


@layer("torch.nn.utils.parametrize.ParametrizationList")
class ParametrizationList(Module):
    """An array that its functions, which are modules, compute from one original, or from several.

    The first value of the originals is what the functions, last first, have as ``right_inverse``.
    """

    def __init__(self, modules, original, unsafe=False):
        self.count = len(modules)
        for i, module in enumerate(modules):
            self.add_module(str(i), module)
        for module in reversed(modules):
            if hasattr(module, "right_inverse"):
                original = module.right_inverse(original)
        self.ntensors = len(original) if isinstance(original, tuple) else 1
        if self.ntensors == 1:
            self.original = Parameter(original)
        else:
            for i, value in enumerate(original):
                setattr(self, f"original{i}", Parameter(value))

    def __call__(self):
        if self.ntensors == 1:
            values = [self.original]
        else:
            values = [getattr(self, f"original{i}") for i in range(self.ntensors)]
        for i in range(self.count):
            values = [getattr(self, str(i))(*values)]
        return values[0]


@layer("torch.nn.utils.parametrize.register_parametrization")
class Parametrized(Reparametrized):
    """A layer one array of which a module computes."""

    def __init__(self, module, tensor_name, parametrization, *, unsafe=False):
        super().__init__(module, tensor_name)
        originals = ParametrizationList([parametrization], self.take())
        self.parametrizations = ModuleDict({tensor_name: originals})

    def array(self):
        return self.parametrizations[self.name]()


class WeightNormFunction(Module):
    """``g * v / |v|``."""

    def __init__(self, dim):
        self.dim = dim

    def __call__(self, g, v):
        return v * (g / norm_except(v, self.dim))

    def right_inverse(self, weight):
        return norm_except(weight, self.dim), weight


@layer("torch.nn.utils.parametrizations.weight_norm")
class ParametrizedWeightNorm(Parametrized):
    """A layer with the weight ``g * v / |v|``: ``original0`` is g, ``original1`` is v."""

    def __init__(self, module, name="weight", dim=0):
        super().__init__(module, name, WeightNormFunction(dim))


class SpectralNormFunction(Module):
    """A weight over its largest singular value, with singular vectors that start after 15 steps."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        self.n_power_iterations, self.dim, self.eps = n_power_iterations, dim, eps
        if weight.ndim > 1:
            matrix = as_matrix(weight, dim)
            rows, columns = matrix.shape
            u = unit(jax.random.normal(draw_key(), (rows,)), eps)
            v = unit(jax.random.normal(draw_key(), (columns,)), eps)
            for _ in range(15):
                u, v = self.power_step(matrix, v)
            self._u = Buffer(u)
            self._v = Buffer(v)

    def power_step(self, matrix, v):
        u = unit(matrix @ v, self.eps)
        return u, unit(matrix.T @ u, self.eps)

    def __call__(self, weight):
        if weight.ndim == 1:
            return weight / jnp.maximum(vector_norm(weight, 2), self.eps)
        matrix = as_matrix(weight, self.dim)
        u, v = self._u, self._v
        if self.training:
            for _ in range(self.n_power_iterations):
                u, v = self.power_step(lax.stop_gradient(matrix), v)
            self._u = u
            self._v = v
        return weight / (u @ matrix @ v)


@layer("torch.nn.utils.parametrizations.spectral_norm")
class ParametrizedSpectralNorm(Parametrized):
    """A layer whose weight is divided by its largest singular value, estimated as it trains."""

    def __init__(self, module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
        dim = output_dim(module) if dim is None else dim
        weight = getattr(module, name)
        function = SpectralNormFunction(weight, n_power_iterations, dim, eps)
        super().__init__(module, name, function)
