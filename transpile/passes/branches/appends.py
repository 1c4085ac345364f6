"""Lists that all sides of a branch on data append to as their last step.

if x.sum() > 0:             if x.sum() > 0:
    out.append(x)               item = x
else:                       else:
    out.append(-x)              item = -x
                            out.append(item)
"""

from collections.abc import Callable, Iterator

from ...facts.carried.obstacles import is_object
from ...facts.values.lattice import Tensor
from ...model.carry import Carried, Carry
from ...model.expressions import Attribute, Call, Name
from ...model.fresh_names import Names
from ...model.node import Expression, Node, Statement
from ...model.program import Function
from ...model.statements import Assign, ExpressionStatement, If
from ...passes.truth import is_branch_on_data
from ..pass_ import Changes


class Appended:
    """What a branch, and those that stand last on its sides, append to one list."""

    def __init__(self, root: If, appends: list[ExpressionStatement], item: str) -> None:
        self.root, self.appends, self.item = root, appends, item
        self.branches = [root, *_chain(root)]
        self.made: list[tuple[If, Callable[[If], Node]]] = []  # what they become

    @property
    def skipped(self) -> set[Node]:
        """The nodes that are no obstacle."""
        return {n for a in self.appends for n in (a, a.expression)}

    def carried(self, carry: Carry) -> None:
        """Add the item to what comes out of a branch."""
        values = [_item(a).value for a in self.appends]
        kinds = {v.kind if isinstance(v, Tensor) else None for v in values}
        carry.outputs.append(self.item)
        carry.names[self.item] = Carried("unset", kinds.pop() if len(kinds) == 1 else None)

    def edit(self, changes: Changes) -> None:
        """Let the branches be what they become, and append behind them all."""
        item = self.item
        for append in self.appends:
            changes.replace(append, lambda a: Assign([Name(item)], _item(a)))
        given = Name(item)
        given.value = Tensor()
        grown = Call(Attribute(Name(_list(self.appends[0])), "append"), [given])
        changes.insert_after(self.root, [ExpressionStatement(grown)])
        for node, make in self.made:
            changes.become(node, make)


def of_branch(node: If, function: Function) -> Appended | None:
    """What all sides of a branch append to one list last; None where they do not."""
    found = _appends(node)
    lists = {_list(a) for a in found or ()}
    if not found or len(lists) != 1 or any(is_object(_item(a).value) for a in found):
        return None
    return Appended(node, found, Names(function).fresh("item"))


def _appends(node: If) -> list[ExpressionStatement] | None:
    """The last steps of all sides of a branch on data, where all append something."""
    found: list[ExpressionStatement] = []
    for block in (node.body, node.orelse):
        last: Statement | None = block.body[-1] if block is not None and block.body else None
        if isinstance(last, If) and is_branch_on_data(last):
            inner = _appends(last)
            if inner is None:
                return None
            found += inner
        elif isinstance(last, ExpressionStatement) and _list(last):
            found.append(last)
        else:
            return None
    return found


def _chain(node: If) -> Iterator[If]:
    """The branches that stand last on the sides of one."""
    for block in (b for b in (node.body, node.orelse) if b is not None):
        last = block.body[-1] if block.body else None
        if isinstance(last, If):
            yield last
            yield from _chain(last)


def _list(statement: ExpressionStatement) -> str:
    """The name of the list that a statement appends one thing to, or nothing."""
    call = statement.expression
    if not isinstance(call, Call) or len(call.arguments) != 1 or call.keywords != [None]:
        return ""
    function = call.function
    plain = isinstance(function, Attribute) and function.name == "append"
    holder = function.object if plain else None  # type: ignore[attr-defined]
    return holder.id if isinstance(holder, Name) else ""


def _item(statement: ExpressionStatement) -> Expression:
    return statement.expression.arguments[0]  # type: ignore[attr-defined, no-any-return]
