"""Methods that write params while the model runs: they give the params, or the module with them, in
the place of nothing."""

from collections.abc import Callable

from ...model.control_flow import Cond
from ...model.effects import PARAM, Read, Write
from ...model.expressions import Attribute, Call
from ...model.names import is_own
from ...model.node import Node
from ...model.program import Function
from ...model.statements import Block, ExpressionStatement, For, If, Return
from .signatures import Signatures
from .threads import calls_of


class Writers:
    """The methods that write params for a forward that calls them; `placed`: whether a call stands
    where what it gives can be kept."""

    def __init__(
        self, conventions: Signatures, placed: Callable[[Call, Function], bool] | None = None
    ) -> None:
        self.conventions, self._placed = conventions, placed
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
        if function in conventions.building or isinstance(function.scope, Function):
            return False
        gives = any(r.expression is not None for r in function.nodes(Return))
        return not gives and not conventions.of(function).gives

    def _wrong(self, call: Call, by: Function) -> set[Function]:
        """The methods that a call may run, where it is none that can be given their params."""
        targets = set(self.conventions.targets(call) or ())
        own = isinstance(call.function, Attribute) and _is_self(call.function, by)
        may_give = by.name == "__call__" or by in self.found
        placed = isinstance(call.parent, ExpressionStatement) and may_give
        placed = placed and (self._placed is None or self._placed(call, by))
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


def is_plain(node: Node, function: Function) -> bool:
    """Whether it stands where a name can be bound again: in no loop that becomes a closure."""
    around = list(node.ancestors())
    kinds = (Block, If, For, Cond, ExpressionStatement)
    return all(type(a) in kinds for a in around[: around.index(function)])
