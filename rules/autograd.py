"""Functions with a backward pass of their own."""

import copy
import inspect

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from transpile.rule import layer


class BackwardContext:
    """What ``forward`` keeps for ``backward``."""

    saved_tensors = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    @property
    def saved_variables(self):
        return self.saved_tensors

    def mark_dirty(self, *tensors):
        """Nothing is written in place here."""

    def mark_non_differentiable(self, *tensors):
        """Integer outputs have no gradient anyway."""

    def set_materialize_grads(self, value):
        """Gradients are always arrays."""


@layer("torch.autograd.Function", "torch.autograd.function.Function", "torch.autograd.function.InplaceFunction")
class AutogradFunction:
    """``apply`` is a jax.custom_vjp of the static methods ``forward(ctx, *args)`` and ``backward(ctx, *grads)``.

    Either gets a key of its own where it draws.
    """

    @classmethod
    def apply(cls, *args, key=None):
        keys = (None, None) if key is None else jax.random.split(key)
        places = [i for i, value in enumerate(args) if hasattr(value, "dtype")]
        kept = {}

        def forward(*arrays):
            full = list(args)
            for i, array in zip(places, arrays):
                full[i] = array
            context = BackwardContext()
            context.needs_input_grad = tuple(i in places for i in range(len(args)))
            return _keyed(cls.forward, keys[0])(context, *full), context

        @jax.custom_vjp
        def function(again, *arrays):
            return forward(*arrays)[0]

        def function_forward(again, *arrays):
            output, context = forward(*arrays)
            leaves, kept["tree"] = jax.tree.flatten(vars(context), is_leaf=lambda leaf: leaf is None)
            traced = [hasattr(leaf, "dtype") for leaf in leaves]
            kept["leaves"], kept["traced"] = [None if t else leaf for leaf, t in zip(leaves, traced)], traced
            return output, ([leaf for leaf, t in zip(leaves, traced) if t], again, arrays)

        def function_backward(residuals, gradient):
            saved, again, arrays = residuals
            rest = iter(saved)
            leaves = [next(rest) if t else leaf for leaf, t in zip(kept["leaves"], kept["traced"])]
            context = BackwardContext()
            vars(context).update(jax.tree.unflatten(kept["tree"], leaves))
            gradients = _keyed(cls.backward, again)(
                context, *(gradient if isinstance(gradient, (tuple, list)) else (gradient,))
            )
            gradients = gradients if isinstance(gradients, (tuple, list)) else (gradients,)
            made = (_cotangent(gradients[i] if i < len(gradients) else None, a) for i, a in zip(places, arrays))
            return None if again is None else _cotangent(None, again), *made

        function.defvjp(function_forward, function_backward)
        return function(keys[1], *[args[i] for i in places])


def _keyed(method, key):
    """A method with the key, where it takes one."""
    taken = inspect.signature(method).parameters.get("key")
    draws = taken is not None and taken.kind is inspect.Parameter.KEYWORD_ONLY
    return (lambda *args: method(*args, key=key)) if draws else method


def _cotangent(gradient, array):
    """A gradient as custom_vjp wants it: zeros for None, float0 for integers."""
    if not jnp.issubdtype(array.dtype, jnp.inexact):
        return np.zeros(array.shape, jax.dtypes.float0)
    return jnp.zeros_like(array) if gradient is None else gradient.astype(array.dtype)


def with_gradient(enabled, value):
    """The value, constant where gradients are switched off: what `torch.set_grad_enabled(enabled)` makes of it."""
    return value if enabled else lax.stop_gradient(value)


def recast(value, made):
    """What a cast gives under `torch.no_grad()`: the value itself, with its gradient, where it has the dtype already."""
    return value if made.dtype == value.dtype else lax.stop_gradient(made)


def constant(value, *, unless=False):
    """What `torch.no_grad()` makes of a value that may hold dicts, whose order stays; what is no array stays as well."""

    def without_gradient(leaf):
        if isinstance(leaf, dict):
            made = copy.copy(leaf)
            for name, entry in leaf.items():
                made[name] = constant(entry)
            return made
        return lax.stop_gradient(leaf) if isinstance(leaf, jax.Array) else leaf

    return value if unless else jax.tree.map(without_gradient, value, is_leaf=lambda node: isinstance(node, dict))


@jax.custom_jvp
def set_data(x, value):
    """``x`` with another value and its own gradient: torch's ``x.data = value``."""
    return jnp.asarray(value, x.dtype)


@set_data.defjvp
def _set_data_jvp(primals, tangents):
    return set_data(*primals), tangents[0]
