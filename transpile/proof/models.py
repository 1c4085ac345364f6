"""A converted model of any target as it is run beside torch's: what is trained, and all else."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..dialects.equinox import runtime as equinox
from ..dialects.flax import runtime as flax
from . import weights
from .checkpoints import from_torch


@dataclass(frozen=True)
class Filled:
    """A model with torch's weights, in one mode. `run(params, rest, args, kwargs)` gives its output
    and the arrays that it holds after the call; `named` gives params, or their gradients. Both are
    by torch's names."""

    params: Any
    rest: Any
    run: Callable[[Any, Any, Any, Any], tuple[Any, dict[str, Any]]]
    named: Callable[[Any], dict[str, Any]]


def filled(original: Any, model: Any, training: bool) -> Filled:
    """A converted model with the weights of a torch module; the model itself stays as it is."""
    if flax.is_model(model):
        return _of_flax(original, model, training)
    if equinox.is_model(model):
        return _of_equinox(original, model, training)
    return _functional(original, model, training)


def _functional(original: Any, module: Any, training: bool) -> Filled:
    import jax

    params, state = from_torch(original, module)
    key = jax.random.key(0)

    def run(params: Any, state: Any, args: Any, kwargs: Any) -> Any:
        out, new = module.apply(params, state, *args, key=key, training=training, **kwargs)
        return out, weights.flatten(new)

    return Filled(params, state, run, weights.flatten)


def _of_flax(original: Any, model: Any, training: bool) -> Filled:
    from flax import nnx

    model = from_torch(original, nnx.clone(model))
    model.train() if training else model.eval()
    graph, params, rest = nnx.split(model, nnx.Param, ...)

    def run(params: Any, rest: Any, args: Any, kwargs: Any) -> Any:
        merged = nnx.merge(graph, params, rest, copy=True)
        out = merged(*args, **kwargs)
        return out, {name: v.get_value() for name, v in flax.arrays(merged).items()}

    return Filled(params, rest, run, lambda tree: flax.params(model, tree))


def _of_equinox(original: Any, model: Any, training: bool) -> Filled:
    import equinox as eqx
    import jax

    model, state = from_torch(original, model)
    model = eqx.nn.inference_mode(model, not training)
    params, static = eqx.partition(model, eqx.is_inexact_array)
    parameters = inspect.signature(type(model).__call__).parameters
    key = parameters.get("key")
    given = {}
    if key is not None and key.kind is inspect.Parameter.KEYWORD_ONLY:
        given["key"] = jax.random.key(0)

    def run(params: Any, state: Any, args: Any, kwargs: Any) -> Any:
        whole = eqx.combine(params, static)
        if state is None:
            return whole(*args, **kwargs, **given), equinox.arrays(whole)
        out, new = whole(*args, **kwargs, state=state, **given)
        return out, equinox.arrays(whole, new)

    return Filled(params, state, run, equinox.arrays)


def constructed(cls: type, args: Any, kwargs: Mapping[str, Any], key: Any) -> Any:
    """A converted model of a class: what draws its initial values gets a key, or streams of it."""
    if flax.is_class(cls) and _takes(cls, "rngs"):
        from flax import nnx

        return cls(*args, **kwargs, rngs=nnx.Rngs(key))
    if equinox.is_class(cls) and _takes(cls, "key"):
        return cls(*args, **kwargs, key=key)
    return cls(*args, **kwargs)


def _takes(cls: type, word: str) -> bool:
    """Whether a constructor takes a keyword, be it to hand it on."""
    for made_by in (vars(c)["__init__"] for c in cls.__mro__ if "__init__" in vars(c)):
        parameters = inspect.signature(made_by).parameters
        if word in parameters:
            return True
        if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            return False
    return False
