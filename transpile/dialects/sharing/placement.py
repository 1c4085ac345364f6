"""What a constructor puts where: the modules that attributes, containers and other modules hold."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from ...facts.bindings.activity import bound
from ...facts.modules import SUBMODULE, Modules
from ...facts.values.attribute_names import WALKS
from ...facts.values.lattice import Mapping, Module, Sequence, classes_of
from ...model.effects import Declare, New, Support
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Dictionary,
    Display,
    Name,
    Starred,
    Subscript,
)
from ...model.functions import is_static
from ...model.names import dotted, names_in, own_word, root, target_names, text
from ...model.node import Expression, Node
from ...model.operators import Binary, Boolean, Conditional
from ...model.program import Function, Parameter
from ...model.project import Project
from ...model.statements import Assign, Block, ExpressionStatement, For, If, While

CONTAINERS = frozenset(("Sequential", "ModuleList", "ModuleDict"))
# are given modules, or params
HOLDING = ("Transformer", "DataParallel", "TripletMarginWithDistance", "Parameter")
_OF_PARTS = (Display, Dictionary, Starred, Comprehension, Conditional, Boolean, Binary)
_LISTING = WALKS | {"values", "items"}
_PASSING_ON = frozenset(
    "list tuple reversed enumerate zip iter next dict OrderedDict filter sorted chain".split()
)
_QUESTIONS = frozenset(("isinstance", "hasattr", "type"))
ADDING = frozenset(("append", "add_module", "insert", "extend", "register_module"))


class Conventions(Protocol):
    """What is known of a project's functions."""

    @property
    def functions(self) -> Iterable[Function]: ...
    @property
    def building(self) -> Collection[Function]: ...
    def targets(self, call: Call) -> list[Function] | None: ...


class Plan(Protocol):
    """What a dialect has settled."""

    @property
    def project(self) -> Project: ...
    @property
    def modules(self) -> Modules: ...
    @property
    def conventions(self) -> Conventions: ...
    def may_have(self, value: Expression) -> bool: ...


@dataclass
class Use:
    """Where a module stands: in which attribute, below which module; `turning`: of which each turn
    of a loop makes another."""

    node: Expression
    attribute: str
    parent: Node | str
    turning: bool = False


class Placed:
    """What the statements of one constructor put where."""

    def __init__(self, me: str, plan: Plan) -> None:
        self.me, self.plan = me, plan

    def held(self, node: Node) -> Iterator[tuple[str, Expression, Node | str]]:
        """What a statement puts where."""
        if isinstance(node, Declare):
            if node.kind == SUBMODULE and node.expression is not None:
                yield node.name, node.expression, self.me
        elif isinstance(node, Assign) and node.expression is not None:
            for target in node.targets:
                if isinstance(target, Attribute) and (path := dotted(target)) is not None:
                    if path.startswith(f"{self.me}.") and isinstance(node.expression.value, Module):
                        above = path.rpartition(".")[0]
                        yield path.split(".")[1], node.expression, above
                    elif isinstance(target.object, Name) and _is_module(node.expression):
                        if target.object.id != self.me:  # `for layer in rest: layer.book = book`
                            yield target.name, node.expression, target
                elif isinstance(target, Subscript) and (path := dotted(target.object)) is not None:
                    held = isinstance(target.object.value, Module)  # `self.stages["a"] = block`
                    if path.startswith(f"{self.me}.") and held:
                        yield path.split(".")[1], node.expression, path
        elif isinstance(node, Call):
            function = node.function
            if isinstance(function, Attribute) and function.name in ADDING:
                path = dotted(function.object) or ""
                plain = isinstance(function.object.value, (Sequence, Mapping))  # a list of Python's
                if path.startswith(f"{self.me}.") and not plain:
                    for argument in node.arguments:
                        yield path.split(".")[1], argument, path
            elif dotted(function) == "setattr" and len(node.arguments) == 3:
                if dotted(node.arguments[0]) == self.me:
                    yield "", node.arguments[2], node

    def given(self, value: Expression, attribute: str, parent: Node | str) -> Iterator[Use]:
        """The names, attributes and items that are handed over, in lists too."""
        if isinstance(value, Subscript) and isinstance(value.object, Call):
            yield from self.given(value.object, attribute, parent)  # `list(m.children())[:2]`
        elif isinstance(value, (Name, Attribute, Subscript)):
            yield Use(value, attribute, parent, _is_turned(value, parent))
        elif isinstance(value, New):
            below = self._within(value, attribute)
            for argument in self._kept(value):
                yield from self.given(argument, attribute, below)
        elif isinstance(value, Call):
            function = value.function
            if isinstance(function, Attribute) and function.name in _LISTING:
                yield from self.given(function.object, attribute, parent)
            elif own_word(function) in _PASSING_ON:
                for argument in value.arguments:
                    yield from self.given(argument, attribute, parent)
            else:
                for argument in self._kept_by_function(value):
                    yield from self.given(argument, attribute, value)
        elif isinstance(value, _OF_PARTS):
            for part in _parts(value):
                yield from self.given(part, attribute, parent)
            for name in _gone_over_twice(value):
                yield Use(name, attribute, parent, turning=True)

    def _within(self, new: New, attribute: str) -> Node | str:
        """The module that is made: what stands under an attribute of self is that."""
        around = new.parent
        if isinstance(around, Declare) and around.expression is new:
            return f"{self.me}.{attribute}"
        return new

    def _kept_by_function(self, call: Call) -> list[Expression]:
        """The arguments that a function of the user's may put into the module that it makes."""
        targets = self.plan.conventions.targets(call) or []
        if not isinstance(call.value, Module) or len(targets) != 1 or targets[0].owner is not None:
            return []
        return _kept_of(call, targets[0], _only_asked(targets[0]))

    def _kept(self, new: New) -> list[Expression]:
        """The arguments that a new module may keep: a layer of torch's keeps none but for those
        that hold others, a class of the user's not those of which it only reads attributes."""
        called = new.function.value
        refs = list(classes_of(called)) if called is not None else []
        if isinstance(new.function, Support) or refs and all(isinstance(r, str) for r in refs):
            word = getattr(new.function, "name", "") or str(refs[0]).rpartition(".")[2]
            holds = word in CONTAINERS or word.startswith(HOLDING)
            return list(new.arguments) if holds else []
        makers = [self.plan.modules.find(c, "__init__") for c in self.plan.modules.classes_of(refs)]
        if not makers or any(m is None for m in makers):
            return list(new.arguments)
        asked = set.intersection(*(_only_asked(m) for m in makers if m is not None))
        return _kept_of(new, makers[0], asked)  # type: ignore[arg-type]


def parameter_for(
    call: Call, argument: Expression, function: Function, asked: list[Parameter] | None = None
) -> str:
    """The name of the parameter that an argument, or a way of one, is for; nothing where there is
    none. `asked`: those of the function, if they are others by now."""
    while isinstance(argument.parent, Conditional):
        argument = argument.parent
    at = next(i for i, a in enumerate(call.arguments) if a is argument)
    bound = function.owner is not None and not is_static(function, function.owner)
    places = (asked or function.parameters)[bound:]
    rest = next((i for i, p in enumerate(places) if p.kind == "*"), at)
    names = [p.name for p in places]
    return call.keywords[at] or "".join(names[min(at, rest) :][:1])


def _kept_of(call: Call, function: Function, asked: set[str]) -> list[Expression]:
    """The arguments of a call, but for those of parameters that are only asked for attributes."""
    return [a for a in call.arguments if parameter_for(call, a, function) not in asked]


def _parts(value: Expression) -> Iterator[Expression]:
    if isinstance(value, Display):
        yield from value.elements
    elif isinstance(value, Dictionary):
        yield from (e for e in value.entries if e is not None)
    elif isinstance(value, Starred):
        yield value.expression
    elif isinstance(value, Conditional):
        yield from (value.body, value.orelse)
    elif isinstance(value, (Boolean, Binary)):  # `list(self.encoder) + list(self.decoder)`
        yield from (value.left, value.right)
    elif isinstance(value, Comprehension):
        yield value.element
    elif isinstance(value, Binary) and isinstance(value.value, Sequence):
        yield from (value.left, value.right)  # `[self.stem] + blocks`


def _gone_over_twice(value: Expression) -> Iterator[Name]:
    """`[Block(a) for a in (layer, layer)]`"""
    for clause in value.clauses if isinstance(value, Comprehension) else ():
        for shown in (n for n in clause.iterable.walk() if isinstance(n, Display)):
            names = [e for e in shown.elements if isinstance(e, Name)]
            seen = {n.id for i, n in enumerate(names) if n.id in [o.id for o in names[:i]]}
            yield from (n for n in names if n.id in seen)


def _is_module(value: Expression) -> bool:
    """Whether it is a module that stands elsewhere already."""
    return isinstance(value.value, Module) and not isinstance(value, Call)


def _is_turned(node: Expression, parent: Node | str) -> bool:
    """Whether each turn of a loop makes a module that is given this one, from outside of it."""
    if isinstance(parent, str):
        return False
    name, set_before = root(node), set[str]()
    for around in parent.ancestors():
        if isinstance(around, Block):
            set_before |= _always_set(around)
            if isinstance(node, Subscript) and text(node.index) == "-1":
                if dotted(node.object) in _always_grown(around):
                    return False  # `self.norms[-1]`, which this turn has made
        if isinstance(around, (Comprehension, For, While)):
            own = {*_made_by_turn(around), *set_before}
            if not own & names_in(node):
                return name is not None
            return False
    return False


def _made_by_turn(loop: Comprehension | For | While) -> Iterator[str]:
    """The names that the head of a loop sets."""
    if isinstance(loop, Comprehension):
        for clause in loop.clauses:
            yield from target_names(clause.target)
    if isinstance(loop, For):
        yield from target_names(loop.target)


def _always_set(block: Block) -> set[str]:
    """The names that a block sets, whichever side of its branches runs."""
    found = set[str]()
    for statement in block.body:
        if isinstance(statement, Assign):
            found.update(bound(statement))
        elif isinstance(statement, If) and statement.orelse is not None:
            found |= _always_set(statement.body) & _always_set(statement.orelse)
    return found


def _always_grown(block: Block) -> set[str]:
    """The lists that a block adds something to."""
    found = set[str]()
    for statement in block.body:
        call = statement.expression if isinstance(statement, ExpressionStatement) else None
        if isinstance(call, Call) and isinstance(call.function, Attribute):
            if call.function.name == "append" and (path := dotted(call.function.object)):
                found.add(path)
    return found


def _only_asked(function: Function) -> set[str]:
    """The parameters of which a function reads attributes alone: `conv.out_channels`."""
    others = set()
    for name in function.nodes(Name):
        around = name.parent
        read = isinstance(around, Attribute) and around.object is name
        called = isinstance(around, Attribute) and isinstance(around.parent, Call)
        if isinstance(around, Call) and dotted(around.function) in _QUESTIONS:
            continue
        if not read or called and around.parent.function is around:  # type: ignore[union-attr]
            others.add(name.id)
    return {p.name for p in function.parameters} - others
