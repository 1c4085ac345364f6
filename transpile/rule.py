"""The form of a rule: a function with torch's signature whose body is the JAX equivalent.

Rule files are read as syntax by the engine, which never runs them, and run as ordinary functions by
the tests. This module holds the few words they are written with, and needs neither torch nor jax.
"""

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union, get_args, get_origin

Number = Union[bool, int, float, complex]

# Arguments that say where or how torch keeps a tensor. JAX decides that elsewhere, so every rule
# knowingly drops them; `out` and `inplace` are the engine's: it rebinds the variable that torch
# would have written.
PLACEMENT = frozenset(
    {
        "device",
        "layout",
        "memory_format",
        "non_blocking",
        "pin_memory",
        "requires_grad",
        "out",
        "inplace",
    }
)


class Unsupported(NotImplementedError):
    """Raised on the branch of a rule that has no JAX equivalent; its message is the user's
    diagnostic."""


def known(test: Any) -> bool:
    """A test that counts as False where the engine cannot decide it: for a rare case that would
    cost a plain form its plainness, and that the plain form answers with an error."""
    return bool(test)


def certain(test: Any) -> bool:
    """A test for a type that counts as undecided where the engine has the type from a default or a
    call alone: a parameter `scale=1` may be given 0.5, and an array made of it must not be one of
    ints."""
    return bool(test)


class Tensor:
    """Annotation: this argument is an array, never a Python number. Annotations select among
    overloads."""


class Unsure:
    """Annotation: an array or a number, which only the run tells: the overload where nothing is
    known of the argument."""


class Size:
    """Annotation: a shape, which torch can tell from any other tuple."""


class Dtype:
    """Annotation: this argument is a dtype."""


class Device:
    """Annotation: this argument is a device, or its name."""


def rule(
    *names: str,
    note: str = "",
    deprecated: bool = False,
    by_data: bool | str | tuple[str, ...] = False,
    differs: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a function as the JAX equivalent of these torch names; `*sizes` accepts loose sizes or
    one sequence.

    `note` says what the equivalence takes for granted of its arguments: it is reported wherever the
    rule is used. A signature that is `deprecated` tells of no unknown object that it is a tensor.
    `by_data`: the shape of the result follows from the values of the arguments, or of those named,
    so that jit must know them. `differs`: where the equivalence gives another thing than torch, in
    words of `transpile.proof.verdicts`, and why that is right.
    """

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        marked = _loose(function)
        marked.torch_names = names  # type: ignore[attr-defined]
        marked.by_data = by_data  # type: ignore[attr-defined]
        marked.differs = differs or {}  # type: ignore[attr-defined]
        return marked

    return mark


def layer(*names: str, note: str = "") -> Callable[[type], type]:
    """Mark a class that is no layer as the equivalent of these torch classes: a distribution, a
    packed sequence."""

    def mark(cls: type) -> type:
        cls.torch_names = names  # type: ignore[attr-defined]
        return cls

    return mark


def _loose(function: Callable[..., Any]) -> Callable[..., Any]:
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        return function
    before = kinds.index(inspect.Parameter.VAR_POSITIONAL)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) == before + 1 and isinstance(args[before], (tuple, list)):
            args = (*args[:before], *args[before])
        return function(*args, **kwargs)

    return call


def overloads(modules: Iterable[types.ModuleType]) -> dict[str, list[Callable[..., Any]]]:
    """All rules and layers of these modules by torch name, in the order in which they stand in
    their files."""
    table: dict[str, list[Callable[..., Any]]] = {}
    for module in modules:
        for value in vars(module).values():
            if getattr(value, "__module__", None) == module.__name__:
                for name in vars(value).get("torch_names", ()):
                    table.setdefault(name, []).append(value)
    return table


def select(
    candidates: Sequence[Callable[..., Any]], args: Sequence[Any], kwargs: dict[str, Any]
) -> Callable[..., Any] | None:
    """The first overload that takes these arguments: the signature binds and every annotation
    fits."""
    for function in candidates:
        signature = inspect.signature(function)
        dropped = {
            k: v for k, v in kwargs.items() if k not in PLACEMENT or k in signature.parameters
        }
        dropped = {
            _ALIASES.get(k, k) if k not in signature.parameters else k: v
            for k, v in dropped.items()
        }
        if "key" in signature.parameters:
            dropped.setdefault("key", None)
        try:
            bound = signature.bind(*args, **dropped)
        except TypeError:
            continue
        if all(_fits(value, signature.parameters[name]) for name, value in bound.arguments.items()):
            return function
    return None


_ALIASES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "input",
    "x1": "input",
    "x2": "other",
    "self": "input",
}


def plain_keywords(function: Callable[..., Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords a rule is called with: placement dropped, numpy's spellings (axis, keepdims)
    made torch's."""
    names = inspect.signature(function).parameters
    kept = {k: v for k, v in kwargs.items() if k not in PLACEMENT or k in names}
    return {_ALIASES.get(k, k) if k not in names else k: v for k, v in kept.items()}


def _fits(value: Any, parameter: inspect.Parameter) -> bool:
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty or value is None and parameter.default is None:
        return True
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return all(_is(item, annotation) for item in value)
    return _is(value, annotation)


def _is(value: Any, annotation: Any) -> bool:
    if isinstance(annotation, types.UnionType) or get_origin(annotation) is Union:
        return any(_is(value, option) for option in get_args(annotation))
    array = hasattr(value, "shape") and hasattr(value, "dtype")
    if annotation is Tensor:
        return array
    if annotation is Unsure:
        return False
    if annotation is Size:
        return type(value).__name__ == "Size"
    if annotation is Dtype:
        return (
            value in (int, float, bool, complex)
            or any("dtype" in c.__name__ for c in type(value).__mro__)
            or isinstance(value, type)
        )
    if annotation is Device:
        return type(value).__name__ == "device" or isinstance(value, str)
    if annotation in (int, float) and not array:
        return isinstance(value, int if annotation is int else (int, float)) and not isinstance(
            value, bool
        )
    if annotation in (tuple, list):
        return isinstance(value, (tuple, list))
    return isinstance(annotation, type) and isinstance(value, annotation) and not array
