"""Layers of the Equinox output with weights that are computed from other arrays."""
# mypy: ignore-errors
# ruff: noqa: F821  (as_matrix, norm_except and the like are definitions of the rules)

from typing import Any

import equinox as eqx
import jax
from jax import lax


def array_named(module, name):
    """An array of a layer, which may be one under a computed name."""
    arrays = vars(module).get("arrays", {})
    return arrays[name] if name in arrays else getattr(module, name)


def with_own(module, name, array):
    """The layer with another array under a name of its own, or none."""
    is_none = lambda leaf: leaf is None
    return eqx.tree_at(lambda m: array_named(m, name), module, array, is_leaf=is_none)


class Reparametrized(eqx.Module):
    """A layer of which one array, ``name``, is computed; in all else it stands for the layer."""

    module: Any
    arrays: dict[str, jax.Array]
    name: str = eqx.field(static=True)

    @property
    def __class__(self):  # isinstance(self, Conv2d) is True where the layer is one
        return vars(self)["module"].__class__ if "module" in vars(self) else type(self)

    def __call__(self, *args, **kwargs):
        return self.whole()(*args, **kwargs)

    def whole(self):
        """The layer itself, with the array that is computed."""
        return with_own(self.module, self.name, self.array())

    def visited(self, function):
        """This with ``function(layer)`` in the place of the layer: what that sets in the place of
        the computed array is gone at the next call, as in torch."""
        layer = with_own(function(self.whole()), self.name, None)
        return eqx.tree_at(lambda m: m.module, self, layer)

    def __getattr__(self, attribute):
        held = self.__dict__
        if "module" not in held or attribute.startswith("__"):
            raise AttributeError(attribute)
        if attribute == held.get("name"):
            return self.array()
        own = attribute in held.get("arrays", ())
        return array_named(self if own else self.module, attribute)


class WeightNorm(Reparametrized):
    """A layer with the weight ``g * v / |v|``."""

    dim: int | None = eqx.field(static=True)

    def __init__(self, module, name="weight", dim=0):
        v = array_named(module, name)
        self.module, self.name, self.dim = with_own(module, name, None), name, dim
        self.arrays = {f"{name}_g": norm_except(v, dim), f"{name}_v": v}

    def array(self):
        g, v = self.arrays.values()
        return v * (g / norm_except(v, self.dim))


class ParametrizedWeightNorm(WeightNorm):
    """WeightNorm with the names of torch's parametrizations: ``original0`` is g, ``original1``
    is v."""

    def __init__(self, module, name="weight", dim=0):
        super().__init__(module, name, dim)
        g, v = self.arrays.values()
        place = f"parametrizations.{name}.original"
        self.arrays = {f"{place}0": g, f"{place}1": v}


class SpectralNorm(Reparametrized, eqx.nn.StatefulLayer):
    """A layer whose weight is divided by its largest singular value, which power iteration
    estimates as it trains."""

    n_power_iterations: int = eqx.field(static=True)
    eps: float = eqx.field(static=True)
    dim: int = eqx.field(static=True)
    inference: bool

    def __init__(self, module, name="weight", n_power_iterations=1, eps=1e-12, dim=None, *, key):
        self.n_power_iterations, self.eps = n_power_iterations, eps
        self.dim = output_dim(module) if dim is None else dim
        weight = array_named(module, name)
        self.module, self.name, self.inference = with_own(module, name, None), name, False
        shape, keys = as_matrix(weight, self.dim).shape, jax.random.split(key, 2)
        vectors = [unit(jax.random.normal(k, (n,)), eps) for k, n in zip(keys, shape)]
        values = [weight, *map(eqx.nn.StateIndex, self.begun(weight, *vectors))]
        self.arrays = dict(zip(self.names(), values))

    def names(self):
        return f"{self.name}_orig", f"{self.name}_u", f"{self.name}_v"

    def begun(self, weight, u, v):
        return u, v

    def moved(self, matrix, u, v):
        v = unit(matrix.T @ u, self.eps)
        return unit(matrix @ v, self.eps), v

    def __call__(self, *args, state=None, **kwargs):
        if state is None:
            *args, state = args
        weight, *places = (self.arrays[name] for name in self.names())
        matrix, (u, v) = as_matrix(weight, self.dim), map(state.get, places)
        if not self.inference:
            for _ in range(self.n_power_iterations):
                u, v = self.moved(lax.stop_gradient(matrix), u, v)
            for place, vector in zip(places, (u, v)):
                state = state.set(place, vector)
        layer = with_own(self.module, self.name, weight / (u @ matrix @ v))
        if is_stateful(layer):
            return layer(*args, state=state, **kwargs)
        return layer(*args, **kwargs), state

    def array(self):
        raise NotImplementedError("a weight under spectral norm is that of a call: call the layer")

    def visited(self, function):
        """This with ``function(layer)`` in the place of the layer: until the first call, what that
        does to the weight is done to what it is computed from, as in torch."""
        name, own = self.names()[0], lambda m: m.arrays[self.names()[0]]
        layer = function(with_own(self.module, self.name, self.arrays[name]))
        new = eqx.tree_at(own, self, array_named(layer, self.name))
        return eqx.tree_at(lambda m: m.module, new, with_own(layer, self.name, None))


class ParametrizedSpectralNorm(SpectralNorm):
    """SpectralNorm with the names of torch's parametrizations; u moves before v, and both start
    after 15 steps."""

    def names(self):
        place = f"parametrizations.{self.name}"
        return f"{place}.original", f"{place}.0._u", f"{place}.0._v"

    def begun(self, weight, u, v):
        for _ in range(15):
            u, v = self.moved(as_matrix(weight, self.dim), u, v)
        return u, v

    def moved(self, matrix, u, v):
        u = unit(matrix @ v, self.eps)
        return u, unit(matrix.T @ u, self.eps)

    def visited(self, function):
        layer = function(with_own(self.module, self.name, self.arrays[self.names()[0]]))
        return eqx.tree_at(lambda m: m.module, self, with_own(layer, self.name, None))
