"""Models of the Equinox output as they run: their arrays by torch's names, filled and read."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

# Of the support file: the field in which a container holds what torch keeps under numbers or names
# of its own.
CONTAINERS = {
    "Sequential": "layers",
    "Submodules": "submodules",
    "Namespace": "submodules",
    "ParameterList": "values",
    "ParameterDict": "params",
    "Reparametrized": "module",
}


def is_model(value: Any) -> bool:
    return is_class(type(value))


def is_class(cls: type) -> bool:
    """Whether the objects of a class are models."""
    return any(c.__module__.startswith("equinox") and c.__name__ == "Module" for c in cls.__mro__)


def arrays(model: Any, state: Any = None, unsaved: bool = False) -> dict[str, Any]:
    """The arrays of a model by torch's names: params, and the buffers that a state holds.

    Without a state, buffers are what the model was built with; None once that has been taken.
    `unsaved`: also the buffers and constants that torch does not save.
    """
    found: dict[str, Any] = {}
    for name, value, _ in _walk(model, "", unsaved):
        if _is_constant(value):
            found[name] = value.array
        elif not _is_index(value):
            found[name] = value
        elif state is not None:
            found[name] = state.get(value)
        else:
            found[name] = value.init if hasattr(value.init, "shape") else None
    return found


def params(model: Any) -> list[str]:
    """The names of what is trained."""
    return [n for n, v, _ in _walk(model, "", False) if not _is_constant(v) and not _is_index(v)]


def load(model: Any, values: Mapping[str, Any]) -> tuple[Any, Any]:
    """The model with these arrays in the place of its own, and its state; None where it takes
    none."""
    import equinox as eqx
    import jax

    new = {}  # an array that stands in two places is one afterwards
    for name, value, _ in _walk(model, ""):
        if name in values:
            new[id(value)] = values[name]
    leaves, structure = jax.tree.flatten(model, is_leaf=_is_index)
    begun = {id(leaf): new.get(id(leaf), leaf.init) for leaf in leaves if _is_index(leaf)}
    indices = {name: eqx.nn.StateIndex(value) for name, value in begun.items()}
    filled = [indices.get(id(leaf), new.get(id(leaf), leaf)) for leaf in leaves]
    model = jax.tree.unflatten(structure, filled)
    for path, value, holder in list(_walk(model, "")):
        if path not in values or _is_index(value):
            continue
        field = path.rpartition(".")[2]
        made = type(value)(values[path]) if _is_constant(value) else values[path]
        if getattr(holder, field, None) is value:  # two that began as one array may differ by now
            object.__setattr__(holder, field, made)  # it is unflattened: nobody else has it
    takes_state = isinstance(model, eqx.nn.StatefulLayer) and model.is_stateful()
    if not indices and not takes_state:
        return model, None
    filled_model: tuple[Any, Any] = eqx.nn.make_with_state(lambda: model)()
    return filled_model


def _walk(
    node: Any, prefix: str, unsaved: bool = True, holder: Any = None
) -> Iterator[tuple[str, Any, Any]]:
    """What holds an array, with its path, and the module that has it as a field. `unsaved`: also
    the buffers that torch does not save."""
    import equinox as eqx
    import numpy as np

    number = isinstance(node, np.generic)  # of a config, `scale=np.sqrt(0.5)`: no array of torch's
    if _is_index(node) or eqx.is_array(node) and not number:
        yield prefix[:-1], node, holder
    elif isinstance(node, dict):
        for name, value in node.items():
            yield from _walk(value, f"{prefix}{name}.", unsaved)
    elif isinstance(node, (list, tuple)):
        for i, value in enumerate(node):
            yield from _walk(value, f"{prefix}{i}.", unsaved)
    elif isinstance(node, eqx.Module):
        held = {CONTAINERS.get(c.__name__) for c in type(node).__mro__}
        for field in dataclasses.fields(node):
            value = getattr(node, field.name, None)
            held_back = field.metadata.get("unsaved") or type(value).__name__ == "Constant"
            if held_back and not unsaved:
                continue
            if _is_constant(value):
                yield f"{prefix}{field.name}", value, node
            elif not field.metadata.get("static") and hasattr(node, field.name):
                below = prefix if field.name in held or _is_computed(field.name, value) else None
                path = f"{prefix}{field.name}." if below is None else below
                yield from _walk(value, path, unsaved, node)


def _is_computed(name: str, value: Any) -> bool:
    """Whether a field is the dict of the arrays whose names a class computes."""
    if not isinstance(value, dict) or name != "arrays":
        return False
    arrays = (v is None or hasattr(v, "shape") or _is_index(v) for v in value.values())
    return all(arrays)


def _is_constant(value: Any) -> bool:
    """Whether it never changes while the model runs; a Buffer is one that checkpoints hold."""
    return type(value).__name__ in ("Buffer", "Constant")


def _is_index(value: Any) -> bool:
    return type(value).__name__ == "StateIndex"
