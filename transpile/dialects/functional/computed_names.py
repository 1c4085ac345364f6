"""Arrays under names that are computed, of a module or of a bare one: `getattr(self, f"u{i}")`.

What a name may be is told by the text that is certain in it: params, the state, or neither.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...facts.modules import Modules
from ...facts.values.computed_names import HOLE, may_be, pattern
from ...facts.values.lattice import Module
from ...model.effects import BUFFER, PARAM, NewArray, Read
from ...model.expressions import Call, Constant, Name
from ...model.names import dotted
from ...model.node import Expression
from ...model.program import Class, Function
from .presence import Presence


class Computed(NamedTuple):
    """A read under a computed name. `kinds`: param, buffer, or "" for what is no array."""

    module: Expression
    name: Expression
    default: Expression | None
    kinds: frozenset[str]


class ComputedNames:
    """The arrays that are made under computed names, before anything is edited."""

    def __init__(self, modules: Modules, functions: Iterable[Function], presence: Presence) -> None:
        self.modules, self.presence = modules, presence
        self._made: dict[tuple[Class, str], set[tuple[str, str]]] = {}
        for function in functions:
            for made in function.nodes(NewArray):
                self._note(function, made)
        self._buffers = {p for made in self._made.values() for p, kind in made if kind == BUFFER}

    def _note(self, function: Function, made: NewArray) -> None:
        call, owner = made.parent, function.owner
        if owner is None or not isinstance(call, Call) or dotted(call.function) != "setattr":
            return
        path = (dotted(call.arguments[0]) or "").partition(".")[2]
        kind = BUFFER if made.kind == BUFFER else PARAM
        self._made.setdefault((owner, path), set()).add((pattern(call.arguments[1]), kind))

    def is_buffer(self, array: Read) -> bool:
        """Whether the state has this, since a constructor makes it under a computed name, and none
        under this very one."""
        value = array.object.value
        classes = self.modules.classes_of_value(value)
        if any(array.name in self.presence.held(cls) for cls in classes):
            return False
        return any(may_be(one, array.name) for one in self._buffers if one != HOLE)

    def asked(self, call: Call, function: Function) -> Computed | None:
        """What a call reads under a computed name; None of other calls, and of what is no array."""
        if not isinstance(call.function, Name) or call.function.id != "getattr":
            return None
        if len(call.arguments) not in (2, 3) or isinstance(call.value, Module):
            return None
        module, name = call.arguments[:2]
        bare = isinstance(module.value, Module) and module.value.is_bare
        if isinstance(name, Constant) and not bare or function.owner is None:
            return None
        me = function.receiver
        head, _, path = (dotted(module) or "").partition(".")
        if not head or head != me or path and not bare:
            return None
        kinds = frozenset(self._kinds(function.owner, path, pattern(name)))
        if not kinds & {PARAM, BUFFER}:
            return None
        default = call.arguments[2] if len(call.arguments) == 3 else None
        return Computed(module, name, default, kinds)

    def _kinds(self, cls: Class, path: str, wanted: str) -> Iterator[str]:
        family = self.modules.lineage(cls) + list(self.modules.home(cls).descendants(cls))
        for one in family:
            made = self._made.get((one, path), set())
            yield from (kind for name, kind in made if may_be(name, wanted))
            for name, held in self.presence.held(one).items() if not path else ():
                if may_be(name, wanted) and (wanted != HOLE or held.kind or held.module):
                    yield held.kind
