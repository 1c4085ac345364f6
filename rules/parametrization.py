"""Weights that are computed from other arrays: what weight norm and spectral norm need, and what is refused."""

import jax.numpy as jnp

from transpile.rule import Unsupported, rule


def unit(x, eps):
    """``x`` at length 1."""
    return x / jnp.maximum(jnp.linalg.norm(x), eps)


def norm_except(v, dim):
    """Length of each slice of ``v`` along ``dim``, (1, n, 1); of the whole for None and, as in torch, -1."""
    axes = None if dim in (None, -1) else tuple(i for i in range(v.ndim) if i != dim % v.ndim)
    return jnp.sqrt(jnp.sum(v * v, axis=axes, keepdims=axes is not None))


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
