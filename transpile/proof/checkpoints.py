"""Weights of torch's in a converted model of any target, and back."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..dialects.equinox import runtime as equinox
from ..dialects.flax import runtime as flax
from . import weights


def from_torch(source: Any, model: Any) -> Any:
    """What torch holds as the converted model has it, from a torch module or a state_dict.

    Flax: the model itself, filled. Equinox: (model, state). Functional: (params, state).
    Raises ValueError, and fills nothing, where a name is missing, surplus, or of another shape.
    """
    if flax.is_model(model):
        variables = flax.arrays(model, constants=True)
        return flax.load(model, _values(source, variables, flax.unsaved(variables), model))
    if equinox.is_model(model):
        held = equinox.arrays(model, unsaved=True)
        unsaved = held.keys() - equinox.arrays(model)
        return equinox.load(model, _values(source, held, unsaved, model))
    return weights.from_torch(source, model)


def to_torch(model: Any, state: Any = None) -> dict[str, Any]:
    """A state_dict of torch's tensors: from a Flax model, from an Equinox model and its state, or
    from params and state."""
    if flax.is_model(model):
        return weights.to_torch({n: v[...] for n, v in flax.arrays(model).items()})
    if equinox.is_model(model):
        return weights.to_torch(equinox.arrays(model, state))
    return weights.to_torch(model, state)


def _values(
    source: Any, arrays: Mapping[str, Any], unsaved: set[str], model: Any
) -> dict[str, Any]:
    """The value for each array of a model, by torch's names. `unsaved`: those that torch may lack,
    and may have in another shape, as what forward passes keep."""
    tensors = dict(_named(source, arrays))
    missing = [n for n in arrays if n not in tensors and n not in unsaved]
    kept = {_storage(tensors[n]) for n in arrays if n in tensors}
    surplus = [n for n, t in tensors.items() if n not in arrays and _storage(t) not in kept]
    surplus = [n for n in surplus if not _is_constant(model, n, tensors[n])]
    made = {n: weights.to_array(tensors[n]) for n in arrays if n in tensors}
    known = {n: a.shape for n, a in arrays.items() if a is not None and n not in unsaved}
    misshaped = [n for n, value in made.items() if value.shape != known.get(n, value.shape)]
    wrong = {"missing": missing, "surplus": surplus, "of another shape": misshaped}
    if any(wrong.values()):
        found = "; ".join(f"{what}: {', '.join(names)}" for what, names in wrong.items() if names)
        raise ValueError(f"the model and what torch holds do not fit; {found}")
    return made


def _named(source: Any, wanted: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The tensors of torch's by name: of a module also those of the wanted ones that it keeps as
    plain attributes, as what is a parameter under another configuration."""
    if isinstance(source, Mapping):
        yield from source.items()
        return
    for name in wanted:
        try:
            held = operator.attrgetter(name)(source)
        except AttributeError:
            continue
        if hasattr(held, "detach"):
            yield name, held
    yield from source.named_parameters(remove_duplicate=False)
    yield from source.named_buffers(remove_duplicate=False)


def _storage(tensor: Any) -> Any:
    """What tied tensors have in common."""
    if not hasattr(tensor, "data_ptr"):
        return object()
    return tensor.data_ptr(), tuple(tensor.shape), tensor.stride()


def _is_constant(model: Any, path: str, value: Any) -> bool:
    """Whether a model computes an array itself, as torch has it."""
    owner = model
    try:
        for part in path.split("."):
            owner = owner[int(part)] if part.isdigit() else getattr(owner, part)
        own = owner[...] if type(owner).__name__ == "Constant" else owner
    except Exception:
        return False
    return hasattr(own, "shape") and weights.agree(own, weights.to_array(value))
