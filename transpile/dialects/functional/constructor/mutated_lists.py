"""Lists and arrays of NumPy's that a constructor changes in place: what a name holds is not the
same before and after.

d = [1.0]
for i in range(n):
    d.append(i)                 changes d
row = table[0]
row[1] = 5                      changes row and table, which are one memory
np.fill_diagonal(eye, 0)        changes eye
"""

from collections.abc import Iterator

from ....facts.bindings.activity import bound
from ....model.effects import Apply, Declare, New
from ....model.expressions import Attribute, Call, Name, Subscript
from ....model.names import dotted, last_word, root, target_names
from ....model.node import Expression, Node
from ....model.program import Function
from ....model.statements import Assign, Break, Continue, Delete, For, Return

_METHODS = frozenset(
    "append extend insert pop popitem remove clear update setdefault add discard sort reverse fill "
    "appendleft put itemset resize".split()
)
_FIRST = frozenset(
    ("fill_diagonal", "copyto", "put", "place", "putmask", "shuffle", "put_along_axis")
)


class Changing:
    """What the statements of one function change."""

    def __init__(self, function: Function) -> None:
        self._alike: dict[str, set[str]] = {}
        for node in function.body.walk():
            if isinstance(node, Assign) and node.expression is not None and not node.operator:
                held = _held(node.expression)
                if held is not None:
                    self._join([held, *(n for t in node.targets for n in target_names(t))])
            elif isinstance(node, For):
                self._join([*_gone_over(node.iterable), *target_names(node.target)])

    def _join(self, names: list[str]) -> None:
        group = set(names).union(*(self._alike.get(n, ()) for n in names))
        self._alike.update(dict.fromkeys(group, group))

    def of(self, node: Node) -> set[str]:
        """The names that a node binds, or whose lists and arrays it changes."""
        return set(bound(node)) | self.in_place(node)

    def in_place(self, node: Node) -> set[str]:
        """The names whose lists and arrays a node changes, those of other names for them too."""
        found = {name.id for part in node.walk() for name in _written(part)}
        return found.union(*(self._alike.get(name, ()) for name in found))


def _held(value: Expression) -> str | None:
    """The name whose memory a value is, or is a part of."""
    while isinstance(value, Subscript):
        value = value.object
    return value.id if isinstance(value, Name) else None


def _gone_over(iterable: Expression) -> Iterator[str]:
    """The names whose elements a loop has: those of `enumerate(rows)`, not that of `range(n)`."""
    if isinstance(iterable, Call) and dotted(iterable.function) in ("enumerate", "zip", "reversed"):
        for argument in iterable.arguments:
            yield from _gone_over(argument)
    elif (held := _held(iterable)) is not None:
        yield held


def _written(node: Node) -> Iterator[Name]:
    held: list[Expression] = []
    if isinstance(node, (Assign, Delete)):
        held += [t for whole in node.targets for t in whole.walk() if isinstance(t, Subscript)]
        if isinstance(node, Assign) and node.operator:
            held += [t for t in node.targets if isinstance(t, Name)]  # `d += [1]`
    elif isinstance(node, Call):
        function, out = node.function, node.keyword("out")
        if isinstance(function, Attribute) and function.name in _METHODS:
            held.append(function.object)
        if last_word(function) in _FIRST:
            held += node.arguments[:1]
        held += [out] if out is not None else []
    for one in held:
        name = root(one) if isinstance(one, (Name, Subscript)) else None
        if name is not None:
            yield name


def does_more(node: Node, me: str) -> bool:
    """Whether a statement does more than change names: it sets fields, builds modules, leaves."""
    for inner in node.walk():
        if isinstance(inner, (Declare, New, Apply, Return, Break, Continue)):
            if isinstance(inner, (Break, Continue)) and any(
                isinstance(n, For) for n in _between(inner, node)
            ):
                continue
            return True
        if isinstance(inner, Assign):
            for target in (t for whole in inner.targets for t in whole.walk()):
                if isinstance(target, Attribute) and dotted(target.object) == me:
                    return True
    return False


def _between(inner: Node, outer: Node) -> Iterator[Node]:
    """The nodes around one, up to another and with it."""
    for node in inner.ancestors():
        yield node
        if node is outer:
            return
