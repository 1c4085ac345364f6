"""Methods that write params while the model runs: they give the params, in the place of nothing."""

from ...model.effects import PARAM, Read, Write
from ...model.expressions import Attribute, Call
from ...model.names import is_own
from ...model.program import Function
from ...model.statements import ExpressionStatement, Return
from ..threading.threads import calls_of
from .conventions import Conventions


class Writers:
    """The methods that write params for a forward that calls them."""

    def __init__(self, conventions: Conventions) -> None:
        self.conventions = conventions
        calls = {c: f for f in conventions.functions for c in calls_of(f)}
        may = {f for f in conventions.functions if self._may(f)}
        self.found = {f for f in may if any(map(_is_of_param, f.nodes(Write)))}
        while more := {by for c, by in calls.items() if self.run(c)} & may - self.found:
            self.found |= more
        while wrong := {f for c, by in calls.items() for f in self._wrong(c, by)} & self.found:
            self.found -= wrong
        self.found &= {f for call in calls for f in conventions.targets(call) or ()}

    def _may(self, function: Function) -> bool:
        if function.owner is None or function.decorators or function.name == "__call__":
            return False
        conventions = self.conventions
        if function in conventions.building or function in conventions.inside:
            return False
        gives = any(r.expression is not None for r in function.nodes(Return))
        return not gives and not conventions.of(function).gives

    def _wrong(self, call: Call, by: Function) -> set[Function]:
        """The methods that a call may run, where it is none that can be given their params."""
        targets = set(self.conventions.targets(call) or ())
        own = isinstance(call.function, Attribute) and _is_self(call.function, by)
        may_give = by.name == "__call__" or by in self.found
        placed = isinstance(call.parent, ExpressionStatement) and may_give
        return set() if targets <= self.found and own and placed else targets

    def run(self, call: Call) -> bool:
        """Whether a call runs such a method."""
        return bool(self.found & set(self.conventions.targets(call) or ()))


def _is_self(function: Attribute, by: Function) -> bool:
    own = by.receiver if by.owner is not None else ""
    return is_own(function, own)


def _is_of_param(write: Write) -> bool:
    """Whether it writes a param by its name; a walk over params binds the name of one."""
    return isinstance(write.target, Read) and write.target.kind == PARAM
