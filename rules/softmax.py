"""Softmax and its relatives."""

import jax
import jax.numpy as jnp
from jax import lax

from transpile.rule import rule


@rule(
    "torch.softmax",
    "torch.Tensor.softmax",
    "torch.special.softmax",
    differs={"raises 0-dim": "an array is taken to have the axis; JAX says where it has none"},
)
def softmax(input, dim, dtype=None):
    if dtype is None:
        return jax.nn.softmax(input, axis=dim)
    return jax.nn.softmax(input.astype(dtype), axis=dim)


@rule("torch.nn.functional.softmax")
def functional_softmax(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None and dtype is None:
        return jax.nn.softmax(input, axis=implicit_dim(input))
    if dim is None:
        return jax.nn.softmax(input.astype(dtype), axis=implicit_dim(input))
    if dtype is None:
        return jax.nn.softmax(input, axis=dim)
    return jax.nn.softmax(input.astype(dtype), axis=dim)


@rule("torch.log_softmax", "torch.Tensor.log_softmax", "torch.special.log_softmax")
def log_softmax(input, dim, dtype=None):
    if dtype is None:
        return jax.nn.log_softmax(input, axis=dim)
    return jax.nn.log_softmax(input.astype(dtype), axis=dim)


@rule("torch.nn.functional.log_softmax")
def functional_log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None and dtype is None:
        return jax.nn.log_softmax(input, axis=implicit_dim(input))
    if dim is None:
        return jax.nn.log_softmax(input.astype(dtype), axis=implicit_dim(input))
    if dtype is None:
        return jax.nn.log_softmax(input, axis=dim)
    return jax.nn.log_softmax(input.astype(dtype), axis=dim)


@rule("torch.nn.functional.softmin")
def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """Softmax of the negatives."""
    x = input if dtype is None else input.astype(dtype)
    return jax.nn.softmax(-x, axis=softmax_axis(x, dim))


@rule("torch.nn.functional.gumbel_softmax")
def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1, *, key):
    """Softmax of logits with Gumbel noise; ``hard`` gives one-hot values with the gradient of the soft ones."""
    soft = jax.nn.softmax((logits + jax.random.gumbel(key, logits.shape, logits.dtype)) / tau, axis=dim)
    if not hard:
        return soft
    one_hot = jax.nn.one_hot(soft.argmax(axis=dim), soft.shape[dim], axis=dim, dtype=soft.dtype)
    return one_hot - lax.stop_gradient(soft) + soft


@rule(
    "torch._softmax_backward_data",
    differs={
        "raises 0-dim": "an array is taken to have the axis; JAX says where it has none",
        "values inf": "half types overflow where torch sums in float32",
        "dtype half": "input_dtype is a hint in torch, and here the dtype of the result",
    },
)
def softmax_backward_data(grad_output, output, dim, input_dtype):
    """The gradient of a softmax by its output, as autograd Functions ask for it."""
    gradient = grad_output - (grad_output * output).sum(axis=dim, keepdims=True)
    return (output * gradient).astype(input_dtype)


def implicit_dim(input):
    """The axis torch takes where none is given: the first of 1 or 3 axes, else the second."""
    if input.ndim == 0:
        return ()
    return 0 if input.ndim in (1, 3) else 1


def in_float32(function, input):
    """``function(input)``; half types are computed in float32 and rounded once at the end, as torch does."""
    if input.dtype in (jnp.bfloat16, jnp.float16):
        return function(input.astype(jnp.float32)).astype(input.dtype)
    return function(input)


def softmax_axis(input, dim):
    """The axis of a softmax layer, whose ``dim`` may be None; a 0-dim array has none."""
    return implicit_dim(input) if dim is None or input.ndim == 0 else dim
