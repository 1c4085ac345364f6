"""What a call tells a rule beside its arrays: flags, a dim to reduce, a dtype."""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...model.rulebook import Parameter
from .lattice import MISSING, NARROW, USUAL, WIDE, Static, Tensor, Value, Width

# Arguments that are not what they are by default, with None where only the run tells.
Flags = frozenset[tuple[str, bool | None]]
DIM = ("dim", "axis")


@dataclass(frozen=True)
class Layer(Tensor):
    """The layer that a method is of."""

    name: str = ""
    flags: Flags = frozenset()
    after: str = ""  # by super() in this class


def gives_dim(
    parameters: Sequence[Parameter], arguments: Sequence[tuple[str | None, Value]]
) -> bool:
    """Whether a call gives one dim to reduce, by arguments (keyword, value)."""
    for i, (keyword, value) in enumerate(arguments):
        if keyword or i < len(parameters):
            name = keyword or parameters[i].name
            if name in DIM and isinstance(value, Static) and value.type == "int":
                return True
    return False


def flags(parameters: Sequence[Parameter], arguments: Iterable[Any]) -> Flags:
    """The flags that a call gives by arguments (keyword, star, value, node), if not the usual."""
    usual, found = usual_flags(parameters), dict[str, bool | None]()
    if not usual:
        return frozenset()
    for i, (keyword, star, value, _) in enumerate(arguments):
        if star == "**":
            names = list(usual)
        elif keyword:
            names = [keyword]
        else:
            names = [p.name for p in (parameters[i:] if star else parameters[i : i + 1])]
        told = None if star else decided(value)
        found.update({name: told for name in names if name in usual})
    return frozenset((name, value) for name, value in found.items() if value is not usual[name])


def usual_flags(parameters: Iterable[Parameter]) -> dict[str, bool | None]:
    """The parameters that are True or False by default: `return_indices=False`."""
    constants = {p.name: p.default.value for p in parameters if isinstance(p.default, ast.Constant)}
    return {name: value for name, value in constants.items() if isinstance(value, bool)}


def decided(value: Value) -> bool | None:
    """The truth of a condition, None where only the run tells."""
    known = isinstance(value, Static) and isinstance(value.const, bool)
    return value.const if known else None  # type: ignore[attr-defined]


def flag(value: bool | None) -> Static:
    return Static(MISSING, "bool") if value is None else Static(value, "bool")


_STEMS = {"b": ("bool",), "i": ("int", "uint"), "f": ("float", "bfloat"), "c": ("complex",)}

_NARROW = frozenset(("float16", "bfloat16", "int8", "int16", "uint8"))
_WIDE = frozenset(("float64", "complex128"))


def cast_kind(dtype: str) -> str | None:
    """The kind of a dtype as a rule writes it: `int`, `jnp.int32`; None where it is a parameter."""
    name = dtype.removeprefix("jnp.")
    if name == "uint8":
        return "u"
    for kind, stems in _STEMS.items():
        if name.startswith(stems) and name.rstrip("_0123456789").endswith(stems):
            return kind
    return None


def width_of(dtype: str) -> Width:
    """Whether an array of this dtype is widened by one of the usual dtype of its kind, or widens
    such a one."""
    name = dtype.removeprefix("jnp.")
    return NARROW if name in _NARROW else WIDE if name in _WIDE else USUAL
