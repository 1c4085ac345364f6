"""Weights computed from other params before each call: weight norm and spectral norm."""

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import Unsupported, layer, rule

from .module import Module


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
        return type(self.module)

    def children(self):
        return self.module.children()

    def initial_weight(self, key):
        """The layer's own first weight, and its other params."""
        params = self.module.init(key)
        return params.pop(self.name), params


def unit(x, eps):
    """``x`` at length 1."""
    return x / jnp.maximum(jnp.linalg.norm(x), eps)


def norm_except(v, dim):
    """Length of each slice of ``v`` along ``dim``, (1, n, 1); of the whole for None and, as in torch, -1."""
    axes = None if dim in (None, -1) else tuple(i for i in range(v.ndim) if i != dim % v.ndim)
    return jnp.sqrt(jnp.sum(v * v, axis=axes, keepdims=axes is not None))


@layer("torch.nn.utils.weight_norm")
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


@layer("torch.nn.utils.parametrizations.weight_norm")
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


@layer("torch.nn.utils.spectral_norm")
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


@layer("torch.nn.utils.parametrizations.spectral_norm")
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


@rule("torch.nn.utils.remove_weight_norm")
def remove_weight_norm(module, name="weight"):
    """The module as it is: it computes the same from the params it has, which stay g and v."""
    return module


@rule("torch.nn.utils.remove_spectral_norm")
def remove_spectral_norm(module, name="weight"):
    raise Unsupported("removing spectral_norm changes the params: build the model without it and load plain weights")


@rule("torch.nn.utils.parametrizations.orthogonal")
def orthogonal_parametrization(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    raise Unsupported(
        "the orthogonal parametrization; compute the weight in your layer, e.g. with jax.scipy.linalg.expm"
    )


@rule("torch.nn.utils.parametrize.register_parametrization")
def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    raise Unsupported("parametrizations of your own; compute the weight in your layer's __call__")
