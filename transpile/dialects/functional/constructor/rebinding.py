"""When the fields of a module are set: what one is at a statement, and in the end.

self.n = 2
if wide:
    self.n = size                       set inside of the branch, before the array is made
    self.w = Parameter(ones(self.n))
    self.n = 7                          and again behind it
"""

from collections.abc import Iterator

from ....model.effects import Apply
from ....model.expressions import Attribute, Call
from ....model.names import dotted, statements
from ....model.node import Node, Statement
from ....model.program import Class, Function
from ....model.statements import Assign, For, If, While
from ..plan import Plan


class Rebinding:
    """The assignments to the fields of a class, seen from its constructor: what it calls,
    `super().__init__()` and `self.build()`, assigns where it is called."""

    def __init__(self, cls: Class, init: Function, plan: Plan) -> None:
        self._sets: dict[str, list[Statement]] = {}
        for name, statement in _assigned(cls, init, plan):
            self._sets.setdefault(name, []).append(statement)
        self._order = {statement: i for i, statement in enumerate(statements(init.body))}

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

    def _may_follow(self, assign: Statement, place: Statement) -> bool:
        around = [place, *place.ancestors()]
        if any(isinstance(n, (For, While)) and n in around for n in assign.ancestors()):
            return True
        return self._order[assign] >= self._order[place] and not are_apart(assign, place)


def _assigned(cls: Class, init: Function, plan: Plan) -> Iterator[tuple[str, Statement]]:
    """The fields that are set, and by which statement, in the constructor and elsewhere."""
    lineage = plan.modules.lineage(cls)
    for one in {*lineage, *plan.modules.below(cls)}:
        for method in plan.modules.home(one).methods(one).values():
            called = _calling(init, method, plan) if one in lineage else None
            me = method.receiver
            for node in statements(method.body):
                targets = node.targets if isinstance(node, Assign) else []
                for target in (t for whole in targets for t in whole.walk()):
                    if isinstance(target, Attribute) and dotted(target.object) == me:
                        yield target.name, called or node


def _calling(init: Function, method: Function, plan: Plan) -> Statement | None:
    """The last statement of a constructor that runs a method, which runs in no other way."""
    if method is init or not plan.conventions.is_builder(method):
        return None
    own = f"{init.receiver}.{method.name}"
    for statement in reversed(init.body.body):
        for call in (n for n in statement.walk() if isinstance(n, (Call, Apply))):
            word = call.function
            above = isinstance(word, Attribute) and word.name == method.name == "__init__"
            if above or dotted(word) == own:
                return statement
    return None


def are_apart(one: Node, other: Node) -> bool:
    """Whether two statements stand on the two sides of a branch."""
    around = [one, *one.ancestors()]
    for node in [other, *other.ancestors()]:
        if isinstance(node.parent, If) and node.parent in around:
            side = next(n for n in around if n.parent is node.parent)
            return side is not node
    return False
