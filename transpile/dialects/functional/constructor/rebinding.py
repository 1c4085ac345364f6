"""When the fields of a module are set: what one is at a statement, and in the end.

self.n = 2
if wide:
    self.n = size                       set inside of the branch, before the array is made
    self.w = Parameter(ones(self.n))
    self.n = 7                          and again behind it
"""

from __future__ import annotations

from collections.abc import Iterator

from ....facts.modules import Modules
from ....model.expressions import Attribute, Call, Name
from ....model.node import Node, Statement
from ....model.program import Class, Function
from ....model.statements import Assign, For, If, While


class Rebinding:
    """The assignments to the fields of a class, seen from its constructor."""

    def __init__(self, cls: Class, init: Function, modules: Modules) -> None:
        self._sets: dict[str, list[Assign]] = {}
        for name, assign in _assigned(cls, modules):
            self._sets.setdefault(name, []).append(assign)
        walked = (n for n in init.body.walk() if isinstance(n, Statement))
        self._order = {statement: i for i, statement in enumerate(walked)}
        above = [s for s in init.body.body if any(map(_runs_constructor, s.walk()))]
        if len(above) == 1:  # the constructors above are done where that is
            bases = (modules.home(c).methods(c).get("__init__") for c in modules.lineage(cls)[1:])
            inside = (a for base in bases if base is not None for a in base.nodes(Assign))
            self._order |= dict.fromkeys(inside, self._order[above[0]])

    def is_set_once(self, name: str) -> bool:
        return len(self._sets.get(name, ())) == 1

    def is_set_later(self, name: str, place: Statement, here: bool = False) -> bool:
        """Whether a field may be another one once a statement of the constructor has run; `here`:
        in the constructor itself."""
        return any(
            self._may_follow(assign, place) if assign in self._order else not here
            for assign in self._sets.get(name, ())
        )

    def is_set_in(self, name: str, around: Statement) -> bool:
        """Whether a field is set in a statement of the constructor."""
        return any(around in (a, *a.ancestors()) for a in self._sets.get(name, ()))

    def turns(self, name: str, place: Statement) -> bool:
        """Whether a field may be another one in each turn of a loop around a statement."""
        loops = [n for n in place.ancestors() if isinstance(n, (For, While))]
        return any(self.is_set_in(name, loop) for loop in loops)

    def _may_follow(self, assign: Assign, place: Statement) -> bool:
        around = [place, *place.ancestors()]
        if any(isinstance(n, (For, While)) and n in around for n in assign.ancestors()):
            return True
        return self._order[assign] >= self._order[place] and not are_apart(assign, place)


def _runs_constructor(node: Node) -> bool:
    """`super().__init__(n)`, `Base.__init__(self, n)`"""
    function = node.function if isinstance(node, Call) else None
    return isinstance(function, Attribute) and function.name == "__init__"


def _assigned(cls: Class, modules: Modules) -> Iterator[tuple[str, Assign]]:
    """The fields that are set, in the constructor and elsewhere."""
    for one in {*modules.lineage(cls), *modules.below(cls)}:
        for method in modules.home(one).methods(one).values():
            me = method.parameters[0].name if method.parameters else ""
            for node in method.body.walk():
                targets = node.targets if isinstance(node, Assign) else []
                for target in (t for whole in targets for t in whole.walk()):
                    if isinstance(target, Attribute) and isinstance(target.object, Name):
                        if target.object.id == me:
                            yield target.name, node  # type: ignore[misc]


def are_apart(one: Node, other: Node) -> bool:
    """Whether two statements stand on the two sides of a branch."""
    around = [one, *one.ancestors()]
    for node in [other, *other.ancestors()]:
        if isinstance(node.parent, If) and node.parent in around:
            side = next(n for n in around if n.parent is node.parent)
            return side is not node
    return False
