"""Properties that compute with what is threaded are methods, and methods that Python calls itself
(`__len__`) raise where they do: it has nothing to give them.

@property                          def doubled(self, params):
def doubled(self):          ->         return params["weight"] * 2
    return self.weight * 2
x * self.doubled                   x * self.doubled(params)
"""

from collections.abc import Callable
from typing import TypeVar

from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Method, Module
from ...model.copy import clone
from ...model.edits import leave_out
from ...model.effects import Apply, Support, Unconverted, Write
from ...model.expressions import Attribute, Name
from ...model.layout import comments
from ...model.names import dotted, is_target
from ...model.node import Expression, Statement
from ...model.program import Class, Function, Parameter
from ...model.project import Project
from ...model.statements import Block, Return
from ..faults import raising
from ..reports import Reports
from .signatures import Signatures
from .threaded import Threads

_SETTER = (
    "a property with a setter has no form here where what it gives is kept in the state: make both "
    "methods, and call these"
)
_PYTHONS = (
    "Python calls this itself, and gives it no params or state: give it another name, and call that"
)
_PRINTED = (
    "left out: Python calls this itself, and gives it no params or state; the model is printed as "
    "other objects are"
)
_OURS = ("__init__", "__post_init__", "__new__", "__call__")

S = TypeVar("S", bound=Signatures)


def as_methods(
    project: Project, solve: Callable[[], S], takes: Callable[[Threads], bool], reports: Reports
) -> S:
    """Let what takes what is threaded be a method, and calls of it what reads it; `solve` finds the
    threads of the program as it is, `takes` says of which a method has to be given any. Gives those
    of the program as it is then."""
    methods = [f for f in project.functions() if f.owner is not None and project.is_module(f.owner)]
    properties = [f for f in methods if project.is_property(f)]
    pythons = [f for f in methods if f.name[:2] == f.name[-2:] == "__" and f.name not in _OURS]
    while True:
        signatures = solve()
        names = {f.name for f in properties if takes(signatures.of(f)) or _sets_arrays(f)}
        needed = {f for f in properties if f.name in names}  # classes below may have their own
        asked = [f for f in pythons if takes(signatures.of(f))]
        if not needed and not asked:
            return signatures
        pythons = [f for f in pythons if f not in asked]
        for function in asked:
            _without_threads(function, reports)
        properties = [f for f in properties if f not in needed]
        kept = {f for f in needed if len(_of_name(f)) > 1}
        for function in [one for f in kept for one in _of_name(f)]:
            _raise(function, _SETTER, reports)
        _become(project, needed - kept)


def _without_threads(function: Function, reports: Reports) -> None:
    """Refuse what Python calls itself; how a model is printed is no loss."""
    assert function.owner is not None
    if function.name in ("__repr__", "__str__") and len(function.owner.body.body) > 1:
        reports.report("unsupported", function, _PRINTED)
        function.owner.body.remove(function)
    else:
        _raise(function, _PYTHONS, reports)


def _raise(function: Function, why: str, reports: Reports) -> None:
    """Refuse a whole function."""
    for statement in function.body.body[1:]:
        function.body.remove(statement)
    reports.refuse("unsupported", function.body.body[0], why)
    for node in [n for n in function.body.walk() if isinstance(n, Unconverted)]:
        node.replace(raising(node, Support))  # no dialect writes a setter


def _of_name(function: Function) -> list[Function]:
    """A property, and its setter."""
    body = function.owner.body.body if function.owner is not None else []
    return [n for n in body if isinstance(n, Function) and n.name == function.name]


def setters(cls: Class) -> list[Function]:
    """The functions that set properties: `@scale.setter`, which have the name of those."""
    words = ("setter", "deleter")
    return [
        function
        for function in cls.body.body
        if isinstance(function, Function)
        and any(getattr(mark, "name", "") in words for mark in function.decorators)
    ]


def add_property(
    cls: Class, init: Function, statement: Statement | None, name: str, value: Expression
) -> Function:
    """A property of this value behind the constructor, with the comments of the statement that set
    it there, and goes."""
    body = Block([Return(clone(value))])
    made = Function(name, [Parameter(init.receiver)], body, [Name("property")])
    if statement is not None:
        body.body[0].comments = comments(statement)
        leave_out(statement)
    made.comments = "\n", ""
    made.file = cls.file
    cls.body.insert_after(init, [made])
    return made


def _sets_arrays(function: Function) -> bool:
    return any(one.nodes(Write) for one in _of_name(function))


def _become(project: Project, needed: set[Function]) -> None:
    for scope in [s for file in project.ordered for s in file.scopes()]:
        for read in list(scope.nodes(Attribute)):
            _called(project, read, needed)
    for function in needed:
        for mark in [d for d in function.decorators if "property" in (dotted(d) or "")]:
            function.undecorate(mark)


def _called(project: Project, read: Attribute, needed: set[Function]) -> None:
    if is_target(read):
        return
    held = read.object.value
    if not isinstance(held, Module):
        return
    classes = [ref for ref in held.refs if isinstance(ref, Class)]
    found = [project.find(cls, read.name) for cls in classes]
    function = next((f for f in found if f in needed), None)
    if function is None:
        return
    one = len(classes) == 1
    method = FunctionValue(function, classes[0]) if one else Method(held, read.name)
    value, read.value = read.value, method
    read.wrap(lambda read: Apply(read, [], [])).value = value  # type: ignore[attr-defined]
