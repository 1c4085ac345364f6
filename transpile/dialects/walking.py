"""Walks over the parts of modules while these run, whose order counts: a traced model of Flax's has
its parts by the alphabet, one of Equinox's by its fields, and torch's as they were set. The modules
of such a program know that, by a tuple of names."""

from ..facts.modules import ARRAYS, SUBMODULE
from ..facts.program import ProgramFacts
from ..facts.values.lattice import Module
from ..model.constants import is_none
from ..model.edits import block_of
from ..model.effects import PARAM, Declare, Write
from ..model.expressions import Attribute, Call, Comprehension, Constant, ForClause, Name
from ..model.names import dotted, is_own, statements
from ..model.node import Expression, Node
from ..model.program import Function
from ..model.project import Project
from ..model.statements import Assign, Block, ExpressionStatement

ORDER = "_order"  # the walks of the preludes read it
WALKS = frozenset(
    "apply modules named_modules children named_children parameters named_parameters".split()
)
ALL = (*ARRAYS, SUBMODULE)  # what they go over
_MIXING = frozenset("sum any all min max len".split())


def go_in_order(project: Project, facts: ProgramFacts) -> bool:
    """Whether any function of a project goes over parts of modules while they run, in order."""
    return any(_walks(function, facts) for function in project.functions())


def names_in_order(me: str) -> Assign:
    """`self._order = tuple(vars(self))`, behind all that a constructor sets."""
    parts = Call(Name("tuple"), [Call(Name("vars"), [Name(me)])])
    return Assign([Attribute(Name(me), ORDER)], parts)


def keep_order(project: Project, facts: ProgramFacts, kinds: tuple[str, ...]) -> None:
    """`self.down = None` gives no place in torch's order, nor does what was deleted: before a
    constructor sets such a one, `vars(self).pop("down")`, so that it comes behind the others. For
    programs that `go_in_order`."""
    for function in project.functions():
        me = project.self_name(function)
        if me is not None and facts.stage(function) == "building":
            _unplace(function, me, kinds)


def _unplace(function: Function, me: str, kinds: tuple[str, ...]) -> None:
    before: list[tuple[str, Block, bool]] = []  # names, where they are set, and whether to None
    for statement in list(statements(function.body)):
        target, value = _stored(statement, kinds)
        if target is None or value is None or not is_own(target, me):
            continue
        around, empty = set(statement.ancestors()), is_none(value)
        ways = [none for name, block, none in before if name == target.name and block in around]
        if ways and ways[-1] and not empty:
            taken = Call(Attribute(Call(Name("vars"), [Name(me)]), "pop"), [Constant(target.name)])
            block_of(statement).precede(statement, [ExpressionStatement(taken)])
        before.append((target.name, block_of(statement), empty))


def _stored(statement: Node, kinds: tuple[str, ...]) -> tuple[Node | None, Expression | None]:
    """What is made of an array or module of self, and with which value."""
    if isinstance(statement, Write) and PARAM in kinds:
        return statement.target, statement.value
    if isinstance(statement, Declare) and statement.kind in kinds:
        return statement.targets[0], statement.expression
    return None, None


def _walks(function: Function, facts: ProgramFacts) -> bool:
    ordered = any(_is_walk(c) and not _mixes(c, function) for c in function.nodes(Call))
    return ordered and facts.stage(function) == "traced"


def _is_walk(call: Call) -> bool:
    function = call.function
    named = isinstance(function, Attribute) and function.name in WALKS
    return named and isinstance(function.object.value, Module)  # type: ignore[attr-defined]


def _mixes(walk: Call, function: Function) -> bool:
    """Whether it is all the same in which order a walk goes: `sum(p.norm() for p in …)`, and
    `next(…)` where that is asked for its dtype."""
    around = walk.parent
    if isinstance(around, Call) and dotted(around.function) == "next":
        return _is_of_dtype(around, function)
    if isinstance(around, ForClause) and isinstance(around.parent, Comprehension):
        around = around.parent.parent
    return isinstance(around, Call) and dotted(around.function) in _MIXING


def _is_of_dtype(node: Expression, function: Function) -> bool:
    """`next(…).dtype`, or `p = next(…)` where no more is asked of p."""
    around = node.parent
    if isinstance(around, Assign) and isinstance(around.targets[0], Name):
        target = around.targets[0]
        names = (n for n in function.body.walk() if isinstance(n, Name) and n.id == target.id)
        return all(n is target or _is_of_dtype(n, function) for n in names)
    if isinstance(around, Call) and dotted(around.function) == "lax.stop_gradient":
        return _is_of_dtype(around, function)
    return isinstance(around, Attribute) and around.name == "dtype"
