"""Layers with weights computed from other params before each call: weight norm, spectral norm."""

import jax
import jax.numpy as jnp
from jax import lax


class Reparametrized(Module):
    """A layer in whose params one array, ``name``, is computed; in all else it stands for the layer itself."""

    def __init__(self, module, name="weight"):
        self.module, self.name = module, name

    def __getattr__(self, attribute):
        if attribute == "module":  # not set yet, while copying
            raise AttributeError(attribute)
        return getattr(self.module, attribute)

    @property
    def __class__(self):  # isinstance(self, Conv2d) is True where the layer is one
        return self.module.__class__

    def children(self):
        return self.module.children()

    def initial_weight(self, key):
        """The layer's own first weight, and its other params."""
        params = self.module.init(key)
        return params.pop(self.name), params


class WeightNorm(Reparametrized):
    """A layer with the weight ``g * v / |v|``; its params are ``weight_g``, ``weight_v`` and the layer's others."""

    def __init__(self, module, name="weight", dim=0):
        super().__init__(module, name)
        self.dim = dim

    def init(self, key):
        v, others = self.initial_weight(key)
        return {**others, f"{self.name}_g": norm_except(v, self.dim), f"{self.name}_v": v}

    def layer_params(self, params):
        """The params of the layer itself."""
        others = dict(params)
        g, v = others.pop(f"{self.name}_g"), others.pop(f"{self.name}_v")
        return {**others, self.name: v * (g / norm_except(v, self.dim))}

    def __call__(self, params, *args, **kwargs):
        return self.module(self.layer_params(params), *args, **kwargs)

    def apply(self, params, state, *args, **kwargs):
        return self.module.apply(self.layer_params(params), state, *args, **kwargs)


class ParametrizedWeightNorm(WeightNorm):
    """WeightNorm with the names of torch's parametrizations: ``original0`` is g, ``original1`` is v."""

    def init(self, key):
        v, others = self.initial_weight(key)
        originals = {"original0": norm_except(v, self.dim), "original1": v}
        return {**others, "parametrizations": {self.name: originals}}

    def layer_params(self, params):
        others = dict(params)
        originals = others.pop("parametrizations")[self.name]
        g, v = originals["original0"], originals["original1"]
        return {**others, self.name: v * (g / norm_except(v, self.dim))}


class SpectralNorm(Reparametrized):
    """A layer whose weight is divided by its largest singular value, estimated by power iteration in training.

    The params are ``weight_orig`` and the layer's others; the state keeps the singular vectors ``weight_u``, ``weight_v``.
    """

    def __init__(self, module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
        super().__init__(module, name)
        transposed = any(cls.__name__.startswith("ConvTranspose") for cls in type(module).__mro__)
        self.dim = int(transposed) if dim is None else dim
        self.n_power_iterations, self.eps = n_power_iterations, eps

    def init(self, key):
        weight, others = self.initial_weight(key)
        return {**others, f"{self.name}_orig": weight}

    def init_state(self, key):
        matrix = self.matrix(self.initial_weight(key)[0])
        vectors = zip("uv", jax.random.split(key), matrix.shape)
        start = {f"{self.name}_{x}": unit(jax.random.normal(k, (n,)), self.eps) for x, k, n in vectors}
        return {**self.module.init_state(key), **start}

    def matrix(self, weight):
        """``weight`` with one row for each output."""
        return jnp.moveaxis(weight, self.dim, 0).reshape(weight.shape[self.dim], -1)

    def power_step(self, matrix, u, v):
        v = unit(matrix.T @ u, self.eps)
        return unit(matrix @ v, self.eps), v

    def normalize(self, weight, u, v, training):
        """The weight over its spectral norm, and the singular vectors after the steps of this call."""
        matrix = self.matrix(weight)
        for _ in range(self.n_power_iterations if training else 0):
            u, v = self.power_step(lax.stop_gradient(matrix), u, v)
        return weight / (u @ matrix @ v), lax.stop_gradient(u), lax.stop_gradient(v)

    def __call__(self, params, state, *args, training=False, **kwargs):
        return self.apply(params, state, *args, training=training, **kwargs)

    def apply(self, params, state, *args, training=False, **kwargs):
        others, names = dict(params), (f"{self.name}_u", f"{self.name}_v")
        weight = others.pop(f"{self.name}_orig")
        weight, u, v = self.normalize(weight, *(state[name] for name in names), training)
        rest = {name: value for name, value in state.items() if name not in names}
        output, rest = self.module.apply({**others, self.name: weight}, rest, *args, training=training, **kwargs)
        return output, {**rest, **dict(zip(names, (u, v)))}


class ParametrizedSpectralNorm(SpectralNorm):
    """SpectralNorm with the names of torch's parametrizations; u moves before v, and both start after 15 steps."""

    def init(self, key):
        weight, others = self.initial_weight(key)
        return {**others, "parametrizations": {self.name: {"original": weight}}}

    def init_state(self, key):
        matrix = self.matrix(self.initial_weight(key)[0])
        if matrix.shape[1] == 1:
            raise ValueError("torch scales a weight of one axis to length 1 here: do that in your own layer")
        u, v = (unit(jax.random.normal(k, (n,)), self.eps) for k, n in zip(jax.random.split(key), matrix.shape))
        for _ in range(15):
            u, v = self.power_step(matrix, u, v)
        return {**self.module.init_state(key), "parametrizations": {self.name: {"0": {"_u": u, "_v": v}}}}

    def power_step(self, matrix, u, v):
        u = unit(matrix @ v, self.eps)
        return u, unit(matrix.T @ u, self.eps)

    def apply(self, params, state, *args, training=False, **kwargs):
        others, rest = dict(params), dict(state)
        weight = others.pop("parametrizations")[self.name]["original"]
        vectors = rest.pop("parametrizations")[self.name]["0"]
        weight, u, v = self.normalize(weight, vectors["_u"], vectors["_v"], training)
        output, rest = self.module.apply({**others, self.name: weight}, rest, *args, training=training, **kwargs)
        return output, {**rest, "parametrizations": {self.name: {"0": {"_u": u, "_v": v}}}}
