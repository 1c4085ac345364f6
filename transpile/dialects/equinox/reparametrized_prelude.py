"""Layers of the Equinox output with weights that are computed from other arrays."""

from typing import Any

import equinox as eqx
import jax


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
        return array_named(self.module, attribute)


class WeightNorm(Reparametrized):
    """A layer with the weight ``g * v / |v|``."""

    dim: int | None = eqx.field(static=True)

    def __init__(self, module, name="weight", dim=0):
        v = array_named(module, name)
        self.module, self.name, self.dim = with_own(module, name, None), name, dim
        self.arrays = {f"{name}_g": norm_except(v, dim), f"{name}_v": v}

    def array(self):
        g, v = self.arrays[f"{self.name}_g"], self.arrays[f"{self.name}_v"]
        return v * (g / norm_except(v, self.dim))
