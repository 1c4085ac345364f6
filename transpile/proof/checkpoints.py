"""Weights of torch's in a converted model of any target, and back."""

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
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
        held = {name: v.get_value() for name, v in variables.items()}
        return flax.load(model, _values(source, held, flax.unsaved(variables), model))
    if equinox.is_model(model):
        held = equinox.arrays(model, unsaved=True)
        unsaved = held.keys() - equinox.arrays(model)
        return equinox.load(model, _values(source, held, unsaved, model))
    return _functional(source, model)


def to_torch(model: Any, state: Any = None, module: Any = None) -> dict[str, Any]:
    """A state_dict of torch's tensors: from a Flax model, from an Equinox model and its state, or
    from params and state: without what torch does not save, if `module`, which they are of, is
    given.

    A tied weight is in it once, and constants that are computed here are not:
    `load_state_dict(…, strict=False)` gives a torch module all that it needs.
    """
    if flax.is_model(model):
        variables = flax.arrays(model)
        saved = variables.keys() - flax.unsaved(variables)
        held = {n: v.get_value() for n, v in variables.items() if n in saved}
        return weights.to_torch({n: v for n, v in held.items() if v is not None})
    if equinox.is_model(model):
        return weights.to_torch(equinox.arrays(model, state))
    found = weights.to_torch(model, state)
    return {n: v for n, v in found.items() if module is None or not _is_unsaved(module, n)}


def _values(
    source: Any, arrays: Mapping[str, Any], unsaved: set[str], model: Any
) -> dict[str, Any]:
    """The value for each array of a model, by torch's names. `unsaved`: those that torch may lack,
    and may have in another shape, as what forward passes keep; so with what is None."""
    tensors = dict(_named(source, arrays))
    unsaved = unsaved | {n for n, a in arrays.items() if a is None}
    missing = [n for n in arrays if n not in tensors and n not in unsaved]
    kept = {_storage(tensors[n]) for n in arrays if n in tensors}
    surplus = [n for n, t in tensors.items() if n not in arrays and _storage(t) not in kept]
    saved = source if isinstance(source, Mapping) else source.state_dict()  # no caches
    surplus = [n for n in surplus if n in saved and not _is_constant(model, n, tensors[n])]
    made = {n: _as_held(tensors[n], held) for n, held in arrays.items() if n in tensors}
    known = {n: a.shape for n, a in arrays.items() if n not in unsaved}
    misshaped = [n for n, value in made.items() if value.shape != known.get(n, value.shape)]
    _check(missing, surplus, misshaped)
    return made


def _as_held(value: Any, held: Any) -> Any:
    """A value of torch's as an array; a number is of the dtype that it has in the model, as 0 of
    what becomes a loss."""
    made, dtype = weights.to_array(value), getattr(held, "dtype", None)
    if not isinstance(value, (int, float)) or dtype is None:
        return made
    whole = dtype.kind in "iub"
    return made if isinstance(value, float) and whole else made.astype(dtype)


def _check(missing: list[str], surplus: list[str], misshaped: list[str]) -> None:
    """Raises ValueError where there are any."""
    wrong = {"missing": missing, "surplus": surplus, "of another shape": misshaped}
    if any(wrong.values()):
        found = "; ".join(f"{what}: {', '.join(names)}" for what, names in wrong.items() if names)
        raise ValueError(f"the model and what torch holds do not fit; {found}")


def _functional(source: Any, module: Any) -> tuple[Any, Any]:
    """(params, state), where they are what `init` and `init_state` give."""
    import jax

    params, state = weights.from_torch(source, module)
    made, begun = weights.shapes(module, "init"), weights.shapes(module, "init_state")
    if made is None or begun is None:  # a part was not converted, and raises where it runs
        return params, state
    made, begun = weights.flatten(made), weights.flatten(begun)
    tensors = dict(_named(source, ()))
    saved = source if isinstance(source, Mapping) else source.state_dict()
    put = weights.flatten(params) | weights.flatten(state)
    missing = [n for n in made if n not in put]
    if isinstance(source, Mapping):
        missing += [n for n in begun if n not in put and not _is_unsaved(module, n)]
    kept = {_storage(tensors[n]) for n in put if n in tensors}
    surplus = [n for n, t in tensors.items() if n not in put and _storage(t) not in kept]
    surplus = [n for n in surplus if n in saved and not _has(*_place(module, n))]  # a constant
    known = {n: v.shape for n, v in (made | begun).items()}
    misshaped = [n for n, v in put.items() if n in saved and v.shape != known.get(n, v.shape)]
    _check(missing, surplus, misshaped)
    if isinstance(source, Mapping) and any(n not in put for n in begun):
        state = _begun(state, module.init_state(jax.random.key(0)))  # torch does not save it
    return params, state


def _begun(state: Any, new: Any) -> Any:
    """A state with what it lacks of a new one."""
    if not isinstance(new, dict):
        return new if state is None else state
    return {name: _begun((state or {}).get(name), value) for name, value in new.items()}


def _has(owner: Any, name: str) -> bool:
    """Whether a module has an attribute; a property is not run, as it may need params."""
    return name in vars(owner) or hasattr(type(owner), name) if owner is not None else False


def _is_unsaved(module: Any, path: str) -> bool:
    """Whether a name of the state, or one that it stands below, is one that torch does not save."""
    for name in path.split("."):
        if any(name in vars(cls).get("unsaved", ()) for cls in type(module).__mro__):
            return True
        module = getattr(module, name, None)
    return False


def _place(module: Any, name: str) -> tuple[Any, str]:
    """The module that holds an array, or would hold it, and the name that it has there."""
    *path, last = name.split(".")
    for part in path:
        module = getattr(module, part, None)
    return module, last


def _named(source: Any, wanted: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The tensors of torch's by name: of a module also those of the wanted ones, and numbers, that
    it keeps as plain attributes, as what is a parameter under another configuration, or in lists
    and dicts."""
    if isinstance(source, Mapping):
        yield from source.items()
        return
    for name in wanted:
        held = reduce(_part, name.split("."), source)
        if hasattr(held, "detach") or isinstance(held, (int, float)):  # what it has counted
            yield name, held
    yield from source.named_parameters(remove_duplicate=False)
    yield from source.named_buffers(remove_duplicate=False)


def _part(owner: Any, name: str) -> Any:
    """An attribute, or what a plain list or dict has there, which torch doesn't register."""
    if isinstance(owner, (list, tuple)) and name.isdigit():
        return owner[int(name)] if int(name) < len(owner) else None
    return owner.get(name) if isinstance(owner, dict) else getattr(owner, name, None)


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
        kind = type(owner).__name__
        own = owner[...] if kind == "Constant" else owner.value if kind == "Static" else owner
    except Exception:
        return False
    return hasattr(own, "shape") and weights.agree(own, weights.to_array(value))
