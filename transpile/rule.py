"""The form of a rule: a function with torch's signature whose body is the JAX equivalent.

Rule files are read as syntax by the engine, which never runs them, and run as ordinary functions by
the tests. This module holds the few words they are written with, and needs neither torch nor jax.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Union

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


def outside_bytes(array: Any) -> bool:
    """A test for floats of which some may be below 0 or above 255, as far as the engine sees from
    the expression."""
    return bool(array.dtype.kind == "f")


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
    so that jit must know them; with "not size", where no size is given. `differs`: where the
    equivalence gives another thing than torch, in words of `tests.proof.verdicts`, and why that is
    right.
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
