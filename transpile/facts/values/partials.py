"""Calls of `functools.partial`: what stands for a class or a function that was told some things."""

from . import constructors, functions
from .class_values import functions_of
from .frame import Argument, Frame
from .lattice import FUNCTION, UNKNOWN, Class, Torch, Value


def call(frame: Frame, args: list[Argument]) -> Value:
    """`functools.partial` of a class makes what the class does; of a function one of arrays; of the
    user's, told some things by name, it is that function, or those."""
    rulebook = frame.facts.rulebook
    function = args[0].value if args else UNKNOWN
    name = function.ref if isinstance(function, Class) else None
    if isinstance(function, Torch):
        name = function.name
    if isinstance(name, str) and rulebook.layer(name):
        return Class(constructors.variant(frame, args[0].node, name, args[1:]))
    if isinstance(function, Class):
        constructors.fill(frame, function, args[1:])
        return function
    if (several := functions_of(function)) and all(a.keyword for a in args[1:]):
        for one in several:
            functions.bind_arguments(frame, one.function, args[1:])
        return function
    if not isinstance(function, Torch):
        return UNKNOWN
    rules = rulebook.find(function.name)
    draws = bool(rules) and any(p.name == "key" for p in rules[0].parameters)
    return FUNCTION if rules and not draws else UNKNOWN
