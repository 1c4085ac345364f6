"""What stands for a class: the classes that it may be, the functions that make modules in the place
of one, and whether others may be given."""

from typing import Any

from .lattice import Class, Function, Functions, OneOf, Open, Value, classes_of


def makers_of(value: Value | None) -> list[Function]:
    """The functions of the user's that a value may be, in the place of a class or of others."""
    if isinstance(value, Class):
        ref = value.ref.ref if isinstance(value.ref, Open) else value.ref
        return Functions(ref.makers).ordered if isinstance(ref, OneOf) else []
    found = functions_of(value)
    return found if all(f.owner is None for f in found) else []


def functions_of(value: Value | None) -> list[Function]:
    """The functions of the user's that a value may be, where all are known."""
    if isinstance(value, Functions):
        return value.ordered
    return [value] if isinstance(value, Function) else []


def is_class_or_maker(value: Value | None) -> bool:
    """Whether it is a class or a function, and which of them only the run tells."""
    return isinstance(value, Class) and bool(makers_of(value))


def is_open(value: Value) -> bool:
    """Whether it is a class in the place of which others may be given."""
    return isinstance(value, Class) and isinstance(value.ref, Open)


def is_given(value: Value | None) -> bool:
    """Whether it is a class in the place of which a function is given that may make a module."""
    return isinstance(value, Class) and isinstance(value.ref, Open) and value.ref.given


def named_classes(value: Value) -> frozenset[Any]:
    """The classes that a value may be, or that are known of those, where others may be given."""
    return classes_of(Class(value.ref.ref)) if is_open(value) else classes_of(value)  # type: ignore[attr-defined]
