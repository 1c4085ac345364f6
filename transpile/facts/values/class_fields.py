"""Fields of objects that hold what makes modules: `layers.conv(3, 4)`, by their names alone, since
what is no module may be of any class.

    @dataclass
    class Layers:
        conv: type[nn.Module] = ConvNorm          layers.conv: ConvNorm, or what else is given
"""

import dataclasses

from ...model import program
from .default_kinds import of_kind
from .frame import Argument, Frame
from .joins import join
from .lattice import NONE, Class, Open, Value


def note(frame: Frame, cls: program.Class, args: list[Argument]) -> None:
    """Say what is given by name for the fields of an object without a constructor of its own."""
    given = {a.keyword: a.value for a in args if a.keyword}
    if given:
        frame.facts.note(given, "fields", cls)


def named(frame: Frame, name: str) -> Value | None:
    """What makes modules in the fields of a name, before a model runs: `block.act(x)` is a module.
    None where something else may stand there."""
    classes = _index(frame).get(name)
    if not classes or frame.facts.in_forward(frame.function):
        return None
    found: Value | None = None
    others = False  # something is given of which nothing is known
    for cls in classes:
        default = frame.facts.expression(frame.facts.project.assigned(cls)[name])
        given = (frame.facts.read("fields", cls) or {}).get(name)
        for value in (default, given):
            if value is None or value == NONE:
                continue
            made = of_kind(frame, value)
            if isinstance(made, Class):
                found = join(found, made)
            else:
                others = True
    if not isinstance(found, Class) or not isinstance(found.ref, Open):
        return None
    return Class(dataclasses.replace(found.ref, given=True)) if others else found


def _index(frame: Frame) -> dict[str, list[program.Class]]:
    """The classes of objects by the names of their fields."""
    facts = frame.facts
    if "fields" not in facts.memory:
        found: dict[str, list[program.Class]] = {}
        for cls in facts.project.classes():
            if not facts.project.is_module(cls) and not facts.project.is_enum(cls):
                for name in facts.project.assigned(cls):
                    found.setdefault(name, []).append(cls)
        facts.memory["fields"] = found
    index: dict[str, list[program.Class]] = facts.memory["fields"]
    return index
