"""Which module a name of a constructor's is, and what it was taken from."""

from collections.abc import Iterable

from ...facts.bindings.activity import by_name
from ...model.effects import New
from ...model.expressions import (
    Attribute,
    Comprehension,
    Display,
    ForClause,
    Name,
    Slice,
    Subscript,
)
from ...model.names import is_item, root, target_names, text
from ...model.node import Expression, Node
from ...model.statements import Assign, For


class Names:
    """The names of one constructor, by the nodes of its body in the order of the text."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._order = {node: i for i, node in enumerate(nodes)}
        self.bindings = by_name(n for n in self._order if isinstance(n, Assign))
        self._loops = [n for n in self._order if isinstance(n, For)][::-1]
        self._last: dict[object, Expression | None] = {}  # what is behind the names in `source`

    def source(self, node: Expression) -> object:
        """What is the same for one module: a path, or a name with where it is set."""
        node = whole(node)
        if isinstance(node, Name):
            last = self._last_before(node)
            turn = _clause(node) or self._loop_before(node, last)
            if turn is not None and _makes(turn.iterable):  # `for m in [Linear(4, 4), ReLU()]`
                return node.id, turn
            if last is None:
                return node.id
            value = last.expression
            single = isinstance(last.targets[0], Name) and not last.operator
            plain = isinstance(value, (Name, Attribute)) or value is not None and is_item(value)
            if single and plain and value.value is not None:  # type: ignore[union-attr]
                return self.source(value)  # type: ignore[arg-type]
            self._last[node.id, self._order[last]] = value if single else None
            return node.id, self._order[last]
        return text(node)

    def made(self, node: Expression) -> New | None:
        """The module that a name was given."""
        behind = self._last.get(self.source(node)) if isinstance(node, Name) else None
        return behind if isinstance(behind, New) else None

    def taken(self, node: Expression) -> Expression:
        """`layers[0]` of a name for it: `last = layers[0]`."""
        last = self._last_before(node) if isinstance(node, Name) else None
        value = last.expression if last is not None else None
        return value if value is not None and is_item(value) else node

    def origin(self, node: Expression) -> Expression | None:
        """What holds the module of a name, or of a name's item: `self.a` of `m` in a loop over
        `self.a`, `list(self.a.children())` of `layers[0]` where `layers` is that list."""
        name = root(node)
        if name is None or isinstance(node, Attribute):
            return None
        last = self._last_before(name)
        since = -1 if last is None else self._order[last]
        for around in name.ancestors():
            if isinstance(around, Comprehension):
                for clause in around.clauses:
                    if name.id in target_names(clause.target):
                        return clause.iterable
            elif isinstance(around, For) and name.id in target_names(around.target):
                if since < self._order[around]:
                    return around.iterable
        value = last.expression if last is not None else None
        return None if isinstance(value, (New, Name)) else value

    def _last_before(self, node: Name) -> Assign | None:
        """The assignment that a name has its value from."""
        read, around = self._order.get(node, -1), set(node.ancestors())
        found = (a for a in reversed(self.bindings.get(node.id, ())) if a not in around)
        return next((a for a in found if self._order[a] < read), None)

    def _loop_before(self, node: Name, last: Assign | None) -> For | None:
        """The loop that a name has its value from, if that is none of an assignment."""
        since, read = -1 if last is None else self._order[last], self._order.get(node, -1)
        loops = (loop for loop in self._loops if node.id in target_names(loop.target))
        return next((loop for loop in loops if since < self._order[loop] < read), None)


def _clause(name: Name) -> ForClause | None:
    """The clause of a comprehension that binds a name, which stands in it."""
    around = set(name.ancestors()) | {name}
    for comprehension in (n for n in name.ancestors() if isinstance(n, Comprehension)):
        for clause in reversed(comprehension.clauses):
            if name.id in target_names(clause.target) and clause.iterable not in around:
                return clause
    return None


def _makes(listed: Expression) -> bool:
    """Whether what a loop goes over is made there: no other loop has the same modules."""
    return isinstance(listed, Display) and all(isinstance(e, New) for e in listed.elements)


def whole(node: Expression) -> Expression:
    """What a part of a list is taken from: `layers` of `layers[::-1]`."""
    while isinstance(node, Subscript) and isinstance(node.index, Slice):
        node = node.object
    return node
