"""A weight that constructors are handed in order to share it is tied where it is handed on.

    self.embed = nn.Embedding(n, d)                self.embed = nn.Embedding(n, d)
    self.head = Head(self.embed.weight)            self.head = Head(
                                                       (self.embed.num_embeddings,
                                             →          self.embed.embedding_dim))
                                                   self.head.out.weight = self.embed.weight
    # in Head
    self.out = nn.Linear(w.size(1), w.size(0))     self.out = nn.Linear(w_shape[1], w_shape[0])
    self.out.weight = w

A constructor that does not ask for its sizes has nothing in its place, and one that makes a weight
of its own where it is handed none, `if w is None: w = nn.Linear(d, n).weight`, makes it. It is done
on syntax alone, so that all facts know of one parameter. A constructor that does anything else with
what it is handed, or that is called elsewhere, stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ...model.copy import clone
from ...model.expressions import Attribute, Call, Display, Name, Starred
from ...model.names import dotted, everywhere, is_own
from ...model.node import Expression, Statement
from ...model.program import Class, File, Function
from ...model.project import Project
from ...model.statements import Assign, ExpressionStatement
from ...source.lower_ast import expression
from ..pass_ import Changes, Pass
from .constructors import Taken, done_with, share

_SHAPES = {
    "torch.nn.Embedding": ("num_embeddings", "embedding_dim"),
    "torch.nn.Linear": ("out_features", "in_features"),
}
_Key = tuple[Class, str]


class _Handed(NamedTuple):
    """`self.head = Head(w)` in a method: what the parameter of the constructor is handed."""

    method: Function
    statement: Statement
    name: str
    call: Call
    argument: Expression
    to: _Key


def run(project: Project, facts: Any = None) -> list[Changes]:
    """Tie the weights that the constructors of a project are handed."""
    return _Weights(project).changes()


class _Weights:
    """What the constructors of a project do with the weights that they are handed."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.inits = {
            cls: init
            for cls in project.classes()
            if (init := project.methods(cls).get("__init__")) is not None and init.parameters
        }
        self.handed = {cls: list(self._handed(cls)) for cls in project.classes()}
        self._taken: dict[_Key, Taken | None] = {}

    def changes(self) -> list[Changes]:
        """The constructors as they are from then on."""
        roots: dict[_Handed, tuple[Expression, ...]] = {}
        for cls, handed in self.handed.items():
            for one in handed:
                shape = self._shape(cls, one)
                taken = self.taken(one.to) if shape is not None else None
                if shape is not None and taken is not None and taken.paths:
                    roots[one] = shape
        chain = {key: taken for key, taken in self._taken.items() if taken and taken.paths}
        if not roots or not self._is_all(chain, roots):
            return []
        found: dict[Function, Changes] = {}
        for (cls, name), taken in chain.items():
            init = self.inits[cls]
            share(found.setdefault(init, Changes(init)), init, name, taken)
        for one in (h for handed in self.handed.values() for h in handed if h.to in chain):
            changes, taken = found.setdefault(one.method, Changes(one.method)), chain[one.to]
            made: Expression = Name(f"{dotted(one.argument)}_shape")
            if one in roots:
                made = Display("tuple", roots[one])
                at, scope = self._built(one)
                ties = [_tie(one, scope, path) for path in taken.paths]
                found.setdefault(scope, Changes(scope)).insert_after(at, ties)
            _hand(changes, one, made if taken.measured else None)
        return list(found.values())

    def _built(self, one: _Handed) -> tuple[Statement, Function]:
        """The statement behind which the module that is handed a weight is there for certain, of
        its class's constructor where that alone runs the method: `self._init_submodules()`."""
        name, cls = one.method.name, one.method.owner
        init = self.inits.get(cls) if cls is not None else None
        calls = [
            call
            for file in self.project.ordered
            for call in everywhere(file, Call)
            if isinstance(call.function, Attribute) and call.function.name == name
            if cls is None or self._is_of_kin(call.function, cls)
        ]
        if init is None or init is one.method or len(calls) != 1:
            return one.statement, one.method
        own = is_own(calls[0].function, init.receiver)
        at = calls[0].parent
        if own and isinstance(at, ExpressionStatement) and at.nearest(Function) is init:
            return at, init
        return one.statement, one.method

    def _is_of_kin(self, method: Attribute, cls: Class) -> bool:
        """Whether a method that is called may be one of a class: of no other's `self`."""
        around = method.nearest(Function)
        other = around.owner if around is not None and is_own(method, around.receiver) else None
        return other in (None, *self.project.order(cls), *self.project.descendants(cls))

    def taken(self, key: _Key) -> Taken | None:
        """What a constructor does with a parameter; None where it does anything else with it than
        to share it and to ask for its sizes."""
        if key not in self._taken:
            self._taken[key] = None  # a constructor that makes its own class
            self._taken[key] = self._take(*key)
        return self._taken[key]

    def _take(self, cls: Class, name: str) -> Taken | None:
        init = self.inits[cls]
        taken, understood = done_with(init, name)
        measured = False
        for one in (h for h in self.handed[cls] if h.statement.parent is init.body):
            below = self.taken(one.to) if dotted(one.argument) == name else None
            if below is not None:
                taken.paths.extend(f"{one.name}.{path}" for path in below.paths)
                understood.add(one.argument)
                measured = measured or below.measured
        reads = {node for node in everywhere(init, Name) if node.id == name}
        parameter = next((p for p in init.parameters if p.name == name), None)
        makes = taken.instead is not None
        plain = parameter is not None and (parameter.default is None or makes)
        taken = taken._replace(measured=measured or bool(taken.sizes))
        return taken if plain and reads == understood and not (makes and taken.measured) else None

    # --- what is handed on ------------------------------------------------------------------------

    def _handed(self, cls: Class) -> Iterator[_Handed]:
        """What the methods of a class hand to the constructors of other ones."""
        for method in self.project.methods(cls).values():
            for statement in method.nodes(Assign) if method.parameters else ():
                call = statement.expression
                holder, _, name = (dotted(statement.targets[0]) or "").partition(".")
                if not isinstance(call, Call) or holder != method.receiver:
                    continue
                made = self._class_of(method, call)
                if made and name and "." not in name and len(statement.targets) == 1:
                    for parameter, argument in self._given(made, call):
                        yield _Handed(method, statement, name, call, argument, (made, parameter))

    def _class_of(self, scope: Function | Any, call: Call) -> Class | None:
        """The class of the project, with a constructor, that a call makes."""
        made = self._called(scope.file, call)
        return made if isinstance(made, Class) and made in self.inits else None

    def _called(self, file: File | None, call: Any) -> Any:
        """What a call is of, by its name in a file."""
        word = dotted(call.function) if isinstance(call, Call) else None
        return self.project.resolve(file, word) if word and file is not None else None

    def _given(self, made: Class, call: Call) -> Iterator[tuple[str, Expression]]:
        if any(isinstance(argument, Starred) for argument in call.arguments):
            return
        names = [p.name for p in self.inits[made].parameters[1:] if p.kind == ""]
        for i, (word, argument) in enumerate(zip(call.keywords, call.arguments)):
            if word is not None or i < len(names):
                yield word or names[i], argument

    def _shape(self, cls: Class, handed: _Handed) -> tuple[Expression, ...] | None:
        """The sizes of `self.embed.weight`, by the layer that it is of."""
        argument = handed.argument
        if not isinstance(argument, Attribute) or argument.name != "weight":
            return None
        me, *path = (dotted(argument.object) or "").split(".")
        if me != handed.method.receiver:
            return None
        found: Any = cls
        for name in path:
            found = self._made(found, name) if isinstance(found, Class) else None
        names = _SHAPES.get(found, ()) if isinstance(found, str) else ()
        return tuple(Attribute(clone(argument.object), name) for name in names) or None

    def _made(self, cls: Class, name: str) -> Any:
        """The class of what a module has under a name, where that is made in one place."""
        stores = [
            (method, assign.expression)
            for one in self.project.order(cls)
            if isinstance(one, Class)
            for method in self.project.methods(one).values()
            for assign in everywhere(method, Assign)
            if method.parameters
            if f"{method.receiver}.{name}" in map(dotted, assign.targets)
        ]
        method, made = stores[0] if len(stores) == 1 else (None, None)
        return self._called(method.file, made) if method is not None else None

    def _is_all(self, chain: dict[_Key, Taken], roots: dict[_Handed, Any]) -> bool:
        """Whether nobody else makes what is handed a weight, or has it for a base."""
        known = {one.argument for one in roots}
        for cls, handed in self.handed.items():
            known |= {h.argument for h in handed if (cls, dotted(h.argument)) in chain}
        makers = {cls for cls, _ in chain}
        if any(not makers.isdisjoint(self.project.order(cls)[1:]) for cls in self.inits):
            return False
        for file in self.project.ordered:
            for call in everywhere(file, Call):
                made = self._called(file, call)
                if isinstance(made, Class) and made in makers:
                    given = dict(self._given(made, call))
                    for (cls, name), taken in chain.items():
                        there = name in given or taken.instead is None
                        if cls is made and there and given.get(name) not in known:
                            return False
        return True


# --- edits ----------------------------------------------------------------------------------------


def _tie(one: _Handed, scope: Function, path: str) -> Statement:
    """`self.head.out.weight = self.embed.weight`"""
    me = scope.receiver
    source = (dotted(one.argument) or "").partition(".")[2]
    return Assign([expression(f"{me}.{one.name}.{path}")], expression(f"{me}.{source}"))


def _hand(changes: Changes, one: _Handed, shape: Expression | None) -> None:
    if shape is None:
        changes.change(one.call, lambda call: call.remove(one.argument))
        return
    word = one.call.keywords[one.call.arguments.index(one.argument)]
    changes.replace(one.argument, shape)
    if word is not None:
        changes.change(one.call, lambda call: call.respell(shape, f"{word}_shape"))


PASS = Pass("shared_weights", (), run, of_project=True)
