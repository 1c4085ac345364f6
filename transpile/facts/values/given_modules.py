"""What a constructor takes for a module, or for what makes one, where the project does not say all
that may be given: dialects see to it that nothing else takes more than what is known.
"""

import dataclasses

from ...model.program import Parameter
from .constructor_arguments import is_called, makes_called
from .frame import Frame
from .joins import join
from .lattice import UNKNOWN, Class, Module, Open, Sequence, Value


def of_declared(frame: Frame, parameter: Parameter, declared: Module, seen: Value | None) -> Module:
    """A module of the class that an annotation names, of one below it, or as the project gives; of
    `nn.Module` the last alone."""
    project = frame.facts.project
    below = (c for cls in declared.classes for c in project.descendants(cls))
    named = Module(declared.classes | frozenset(below)) if declared.classes else None
    given = seen if isinstance(seen, Module) and seen.classes else None
    known = join(named, given) if named and given else named or given
    return of_modules(frame, parameter, known) if isinstance(known, Module) else declared


def of_modules(frame: Frame, parameter: Parameter, seen: Module) -> Module:
    """The modules that a constructor takes: those that the project gives, and others."""
    found = beside_others(seen)
    assume(frame, parameter, found)
    return found


def beside_others(seen: Module) -> Module:
    """The same or other modules, which dialects see to it that take no more."""
    checked = not seen.open or seen.checked
    return dataclasses.replace(seen, open=True, items=None, checked=checked)


def of_list(frame: Frame, parameter: Parameter, listed: Module) -> Sequence:
    """A list of modules that a constructor takes: those that the project gives, and others."""
    found = Sequence(beside_others(listed), loose=True)
    assume(frame, parameter, found)
    return found


def given_none(frame: Frame, parameter: Parameter) -> Value:
    """What is called, or makes what is called, `norm(dim) if norm else nn.Identity()`, and is None
    wherever the project builds the class: others may give what is like one that stands in the
    place of a layer. A dict of arguments, `Block(**args)`, may give any."""
    given = frame.facts.read("parameters", frame.function)
    if given is None or "**" in given:
        return UNKNOWN
    if is_called(frame, parameter.name):
        return of_modules(frame, parameter, Module(frozenset({"torch.nn.Identity"})))
    if not makes_called(frame, parameter.name):
        return UNKNOWN
    made = Class(Open("torch.nn.Identity", checked=True))
    assume(frame, parameter, made)
    return made


def assume(frame: Frame, parameter: Parameter, value: Value) -> None:
    """Note what dialects see to: that nothing else is given which takes more."""
    frame.facts.note({parameter.name: value}, "assumed", frame.function)
