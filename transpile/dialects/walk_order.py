"""Walks over the parts of modules while these run, whose order counts: a traced model of Flax's has
its parts by the alphabet, one of Equinox's by its fields, and torch's as they were set. The modules
of such a program know that, by a tuple of names."""

from ..facts.modules import ARRAYS, SUBMODULE, Modules
from ..facts.program import ProgramFacts
from ..facts.values.lattice import Function as FunctionValue
from ..facts.values.lattice import Module, Value
from ..model.constants import is_none
from ..model.edits import block_of
from ..model.effects import Declare, Write
from ..model.expressions import Attribute, Call, Comprehension, Constant, ForClause, Name
from ..model.names import dotted, is_docstring, is_own, root, statements, target_names
from ..model.node import Expression, Node
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign, Block, Continue, ExpressionStatement, For, If, Pass

ORDER = "_order"  # the walks of the preludes read it
WALKS = frozenset(
    "apply modules named_modules children named_children parameters named_parameters".split()
)
ALL = (*ARRAYS, SUBMODULE)  # what they go over
_MIXING = frozenset("sum any all min max len".split())


class Ordered:
    """The classes of modules over whose parts functions go while they run, in order; of any, where
    it is not known which these are."""

    def __init__(self, project: Project, facts: ProgramFacts) -> None:
        self.modules = facts.modules
        self._found: dict[Class, bool] = {}  # and whether walks go over what is below, too
        self._any = False
        for function in project.functions():
            calls = filter(_is_walk, function.nodes(Call))
            walks = [call for call in calls if not _mixes(call, function)]
            for walk in walks if walks and facts.stage(function) == "traced" else ():
                deep = not walk.function.name.endswith("children")  # type: ignore[attr-defined]
                self._take(walk.function.object.value, deep)  # type: ignore[attr-defined]

    def __contains__(self, cls: object) -> bool:
        if not isinstance(cls, Class) or not self._any and cls not in self._found:
            return False
        bases = filter(self.modules.is_library, self.modules.lineage(cls))
        return all(base.name != "ModuleDict" for base in bases)  # which has an order of its own

    def _take(self, value: Value | None, deep: bool) -> None:
        """What a walk begins with, or comes to."""
        if not isinstance(value, Module) or value.open or not value.classes:
            self._any = True
            return
        for cls in self.modules.classes_of(value.refs):
            for one in (cls, *self.modules.below(cls)):
                self._add(one, deep)
        if deep and value.items is not None:
            for _, held in value.items:
                self._take(held, deep)
        elif deep and value.element is not None:
            self._take(value.element, deep)
        elif deep and any(map(self._is_container, self.modules.classes_of(value.refs))):
            self._any = True

    def _is_container(self, cls: Class) -> bool:
        return any(base.name == "Container" for base in self.modules.lineage(cls))

    def _add(self, cls: Class, deep: bool) -> None:
        if self._any or self._found.get(cls, -1) >= deep:
            return
        self._found[cls] = deep
        for base in self.modules.lineage(cls):  # whose constructor may be the only one
            self._found.setdefault(base, False)
        for field in self.modules.children(cls).values() if deep else ():
            for made in field.values:
                if not is_none(made):
                    self._take(made.value, deep)


def is_by_fields(modules: Modules, cls: Class) -> bool:
    """Whether the fields of a class, in which a traced model of Equinox has its parts, tell in
    which order they were set: one after the other by its own constructor, once and by its name."""
    fields, methods = modules.own_fields(cls), modules.home(cls).methods(cls)
    if any(dotted(call.function) == "setattr" for m in methods.values() for call in m.nodes(Call)):
        return False
    parts = [name for name, field in fields.items() if field.kind in ALL]
    bases = [base.name for base in modules.lineage(cls)[1:]]
    function = methods.get("__init__")
    if function is None or bases not in ([], ["Module"]):
        return False
    stores = [s for s in function.body.body if isinstance(s, Assign) and len(s.targets) == 1]
    set_one_by_one = [
        s.targets[0].name
        for s in stores
        if isinstance(s.targets[0], Attribute) and s.targets[0].name in parts
    ]
    return set_one_by_one == parts and all(len(fields[name].values) == 1 for name in parts)


def names_in_order(me: str) -> Assign:
    """`self._order = tuple(vars(self))`, behind all that a constructor sets."""
    parts = Call(Name("tuple"), [Call(Name("vars"), [Name(me)])])
    return Assign([Attribute(Name(me), ORDER)], parts)


def keep_order(
    project: Project, facts: ProgramFacts, ordered: Ordered, kinds: tuple[str, ...]
) -> None:
    """`self.down = None` gives no place in torch's order, nor does what was deleted: before a
    constructor sets such a one, `vars(self).pop("down")`, so that it comes behind the others."""
    for function in project.functions():
        me = project.self_name(function)
        if me is not None and function.owner in ordered and facts.stage(function) == "building":
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
    """What is made an array or module of self, and with which value."""
    if isinstance(statement, Declare) and statement.kind in kinds:
        return statement.targets[0], statement.expression
    return None, None


def _is_walk(call: Call) -> bool:
    function = call.function
    named = isinstance(function, Attribute) and function.name in WALKS
    return named and isinstance(function.object.value, Module)  # type: ignore[attr-defined]


def _mixes(walk: Call, function: Function) -> bool:
    """Whether it is all the same in which order a walk goes: `sum(p.norm() for p in …)`,
    `next(…)` where that is asked for its dtype, `for m in …: m.bias = None`, and `apply` of what
    does so."""
    around = walk.parent
    if isinstance(around, For) and around.iterable is walk:
        return _is_each_apart(around.body, set(target_names(around.target)))
    given = walk.arguments[0].value if walk.arguments else None
    if isinstance(given, FunctionValue) and given.function.parameters:
        return _is_each_apart(given.function.body, {given.function.parameters[-1].name})
    if isinstance(around, Call) and dotted(around.function) == "next":
        return _is_of_dtype(around, function)
    return _is_added_up(walk) or isinstance(around, Call) and dotted(around.function) in _MIXING


def adds_up_params(walk: Call) -> bool:
    """Whether a walk is over params that are added up: `sum(p.numel() for p in m.parameters())`."""
    function = walk.function
    named = isinstance(function, Attribute) and function.name == "parameters"
    return named and not walk.arguments and _is_added_up(walk)


def _is_added_up(walk: Call) -> bool:
    """Whether what is made of each is added up: `sum(p.norm() for p in …)`"""
    clause = walk.parent
    if not isinstance(clause, ForClause) or not isinstance(clause.parent, Comprehension):
        return False
    around = clause.parent.parent
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


def _is_each_apart(body: Block, given: set[str]) -> bool:
    """Whether each turn of a loop does something to what it is given alone."""

    def is_of_given(path: Node) -> bool:
        begin = root(path)
        return begin is not None and begin is not path and begin.id in given

    for statement in statements(body):
        if isinstance(statement, Assign):
            if not all(map(is_of_given, statement.targets)):
                return False
        elif isinstance(statement, Write):
            if not is_of_given(statement.target):
                return False
        elif isinstance(statement, ExpressionStatement):
            made = statement.expression
            plain = isinstance(made, Call) and is_of_given(made.function)
            if not plain and not is_docstring(statement):
                return False
        elif not isinstance(statement, (If, Pass, Continue)):
            return False
    return True
