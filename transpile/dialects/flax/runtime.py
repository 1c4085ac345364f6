"""Models of the Flax output as they run: their arrays by torch's names, filled and read."""

from collections.abc import Mapping
from typing import Any

# Of the support file: the field in which a container holds what torch keeps under numbers or names
# of its own.
CONTAINERS = {"Sequential": "layers", "ParameterList": "values", "ParameterDict": "parameters"}


def is_model(value: Any) -> bool:
    return is_class(type(value))


def is_class(cls: type) -> bool:
    """Whether the objects of a class are models."""
    return any(c.__module__.startswith("flax.nnx") and c.__name__ == "Module" for c in cls.__mro__)


def arrays(model: Any, constants: bool = False) -> dict[str, Any]:
    """The Variables of a model by torch's names, but for random streams and lists and dicts of
    what forward passes keep. `constants`: also those that are none of torch's state, as a plain
    tensor that is a parameter under another configuration."""
    from flax import nnx

    found: dict[str, Any] = {}
    for path, variable in nnx.to_flat_state(nnx.state(model, nnx.Not(nnx.RngState))):
        if not isinstance(variable, nnx.Variable):
            continue  # a plain array is of nothing that torch saves
        if type(variable).__name__ == "Constant" and not constants:
            continue
        if not isinstance(variable.get_value(), (dict, list, tuple)):
            name, held = _follow(model, path)
            found[name] = held
    return found


def params(model: Any, state: Any = None) -> dict[str, Any]:
    """What is trained, by torch's names: of the model, or what stands in its place in a state that
    was split off it, as gradients."""
    from flax import nnx

    state = nnx.state(model, nnx.Param) if state is None else state
    flat = nnx.to_flat_state(state)
    return {_follow(model, path)[0]: variable.get_value() for path, variable in flat}


def unsaved(variables: Mapping[str, Any]) -> set[str]:
    """The names of the Variables that torch does not save, as a number that forward passes
    change."""
    return {
        name
        for name, variable in variables.items()
        if type(variable).__name__ == "Constant" or getattr(variable, "persistent", True) is False
    }


def load(model: Any, values: Mapping[str, Any]) -> Any:
    """Fill a model, and give it back."""
    for name, variable in arrays(model, constants=True).items():
        if name in values:
            variable.set_value(values[name])  # in its dtype, which may be another
    return model


def _follow(model: Any, path: tuple[Any, ...]) -> tuple[str, Any]:
    """The name that torch has for a path, and what stands there."""
    owner, names = model, []
    for part in path:
        if part not in [CONTAINERS.get(c.__name__) for c in type(owner).__mro__]:
            names.append(str(part))
        owner = _part(owner, part)
    return ".".join(names), owner


def _part(owner: Any, part: Any) -> Any:
    if isinstance(part, int) or type(owner).__name__ in ("Dict", "ModuleDict", "List"):
        return owner[part]
    return getattr(owner, part)
