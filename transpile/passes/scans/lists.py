"""Lists that each turn of a loop appends to once, and that are stacked after it."""

import functools

from ...facts.bindings import read
from ...facts.carried.obstacles import GROWING
from ...facts.carried.written_places import written
from ...facts.values.lattice import Tensor, is_traced
from ...model.control_flow import Collect
from ...model.expressions import Attribute, Call, Constant, Display, Name, Slice, Subscript
from ...model.names import dotted
from ...model.node import Expression, Node, Statement
from ...model.operators import Unary
from ...model.program import Function
from ...model.statements import Assign, Block, ExpressionStatement, For
from ..pass_ import Changes


class Lists:
    """The lists of one loop."""

    def __init__(self, loop: For, scope: Function) -> None:
        self.loop, self.scope = loop, scope
        block = loop.parent
        assert isinstance(block, Block)
        at = block.body.index(loop)
        self.before, self.after = block.body[:at], block.body[at + 1 :]
        self.appends: dict[str, ExpressionStatement] = {}

    def found(self) -> dict[str, ExpressionStatement] | None:
        """The statement that appends to each list; None where the loop must stay for a list."""
        for node in self.loop.body.walk():
            grows = isinstance(node, Attribute) and node.name in GROWING
            if not grows or isinstance(node.object.value, Tensor):  # type: ignore[attr-defined]
                continue
            line = next((s for s in self.loop.body.body if any(n is node for n in s.walk())), None)
            name = _append_of(line)
            if name is None or name in self.appends:
                return None
            assert isinstance(line, ExpressionStatement)
            value = _item(line).value
            if value is None or not is_traced(value):
                return None
            self.appends[name] = line
        for name in self.appends:
            if self._beginning(name) is None or not self._is_stacked(name):
                return None
        return self.appends

    @property
    def names(self) -> set[str]:
        return set(self.appends)

    @property
    def nodes(self) -> set[Node]:
        """The nodes that append."""
        return {n for s in self.appends.values() for n in (s, s.expression)}

    @functools.cached_property
    def read_elsewhere(self) -> set[str]:
        """What the loop reads in other statements than those that append."""
        others = [s for s in self.loop.body.body if s not in self.nodes]
        items = [_item(s) for s in self.appends.values()]
        return {name for part in [*others, *items] for name in read(part)}

    # --- around the loop -------------------------------------------------------------------------

    def _beginning(self, name: str) -> Statement | None:
        """The statement that makes a list, empty; None where anything else is in it."""
        for statement in reversed(self.before):
            if name in written(statement):
                values = _values(statement)
                return statement if name in values and _is_empty(values[name]) else None
            if name in read(statement):
                return None
        return None

    def _is_stacked(self, name: str) -> bool:
        """Whether all that reads a list afterwards stacks it, in this block."""
        first = next((s for s in self.after if name in read(s)), None)
        values = _values(first)
        if list(values) == [name] and _axis(values[name], name) is not None:
            return True  # `outputs = torch.stack(outputs)`: the list is gone
        everywhere = _named(self.scope.body, name)
        here = sum(_named(s, name) for s in self.after)
        stacks = sum(len(_stacks(s, name)) for s in self.after)
        return stacks > 0 and here == stacks and everywhere == here + 2

    def edit(self, changes: Changes, reverse: bool) -> None:
        """What is appended is collected; the beginnings go, and the stacks are the arrays."""
        for name, line in self.appends.items():
            changes.become(line, functools.partial(_collect, name))
        for begun in dict.fromkeys(self._beginning(name) for name in self.appends):
            if begun is not None and set(_values(begun)) <= self.names:
                changes.remove(begun)
        for name in self.appends:
            for statement in self.after:
                self._unstack(changes, statement, name, reverse)
                if name in written(statement):
                    break

    def _unstack(self, changes: Changes, statement: Statement, name: str, reverse: bool) -> None:
        values = _values(statement)
        whole = list(values) == [name] and _axis(values[name], name) == 0 and not reverse
        if whole and isinstance(statement, Assign):
            changes.remove(statement)  # `outputs = outputs`
            return
        for stack in _stacks(statement, name):
            axis = _axis(stack, name)
            assert axis is not None
            changes.replace(stack, _stacked(name, axis, reverse))


def _stacked(name: str, axis: int, reverse: bool) -> Expression:
    """What `jnp.stack` makes of a list, of the array that has its elements along axis 0. That of a
    scan backwards has them in the order of the rows, not of the turns."""
    array: Expression = Name(name)
    array.value = Tensor()
    if reverse:
        array = Subscript(array, Slice(None, None, Unary("-", Constant(1))))
    if axis == 0:
        return array
    if axis == 1:
        return Call(Attribute(array, "swapaxes"), [Constant(0), Constant(1)])
    end: Expression = Constant(axis) if axis > 0 else Unary("-", Constant(-axis))
    return Call(Attribute(Name("jnp"), "moveaxis"), [array, Constant(0), end])


def _append_of(line: Statement | None) -> str | None:
    """The list in `name.append(value)` as a statement."""
    call = line.expression if isinstance(line, ExpressionStatement) else None
    if not isinstance(call, Call) or len(call.arguments) != 1 or call.keywords != [None]:
        return None
    function = call.function
    if not isinstance(function, Attribute) or function.name != "append":
        return None
    return function.object.id if isinstance(function.object, Name) else None


def _collect(name: str, line: ExpressionStatement) -> Collect:
    return Collect(name, _item(line))


def _item(line: ExpressionStatement) -> Expression:
    return line.expression.arguments[0]  # type: ignore[attr-defined, no-any-return]


def _values(statement: Statement | None) -> dict[str, Expression]:
    """The names that a plain assignment binds, each with its value; also `a, b = [], []`."""
    plain = isinstance(statement, Assign) and len(statement.targets) == 1 and not statement.operator
    if not plain or statement.expression is None:  # type: ignore[union-attr]
        return {}
    target, value = statement.targets[0], statement.expression  # type: ignore[union-attr]
    if isinstance(target, Name):
        return {target.id: value}
    if isinstance(target, Display) and isinstance(value, Display):
        pairs = list(zip(target.elements, value.elements))
        same = len(target.elements) == len(value.elements)
        if same and all(isinstance(t, Name) for t, _ in pairs):
            return {t.id: v for t, v in pairs}  # type: ignore[attr-defined]
    return {}


def _is_empty(value: Expression) -> bool:
    """`[]` or `list()`."""
    if isinstance(value, Display):
        return value.kind == "list" and not value.elements
    return isinstance(value, Call) and dotted(value.function) == "list" and not value.arguments


def _stacks(node: Node, name: str) -> list[Expression]:
    return [n for n in node.walk() if isinstance(n, Call) and _axis(n, name) is not None]


def _axis(node: Node, name: str) -> int | None:
    """The axis of `jnp.stack(name, axis)`."""
    if not isinstance(node, Call) or dotted(node.function) != "jnp.stack" or not node.arguments:
        return None
    first, *rest = node.arguments
    if not isinstance(first, Name) or first.id != name or node.keywords[0] is not None:
        return None
    if not rest:
        return 0
    if len(rest) > 1 or node.keywords[1] not in (None, "axis"):
        return None
    axis, sign = rest[0], 1
    if isinstance(axis, Unary) and axis.operator == "-":
        axis, sign = axis.operand, -1
    plain = isinstance(axis, Constant) and type(axis.constant) is int
    return sign * axis.constant if plain else None  # type: ignore[attr-defined]


def _named(node: Node, name: str) -> int:
    return sum(1 for n in node.walk() if isinstance(n, Name) and n.id == name)
