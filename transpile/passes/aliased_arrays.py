"""Arrays of a module that are one tensor in torch, where each is an array of its own here.

self.register_buffer("a", t)        reported, where something writes into one of them in place,
self.register_buffer("b", t)        or where one is a param, which is trained
self.b.mean = self.a.mean
self.a, self.b = Part(t), Part(t)
"""

from collections.abc import Iterator
from typing import Any

from ..facts.modules import ARRAYS
from ..facts.values.lattice import Sequence, Static, Tensor, classes_of, is_param
from ..model.effects import PARAM, Declare, New, NewArray, Read, Write
from ..model.expressions import Attribute, Call, Comprehension, Name, Subscript
from ..model.names import (
    dotted,
    everywhere,
    is_own,
    is_target,
    names_assigned,
    rebound,
    target_names,
    text,
)
from ..model.node import Expression, Statement
from ..model.program import Class, Function
from ..model.project import Project
from ..model.statements import Assign, For
from .pass_ import Changes, Pass

_ONE = (
    "are one tensor in torch, where what is written into one is seen in the other: each is one of "
    "its own here"
)


def run(project: Project, facts: Any) -> list[Changes]:
    """The reports for all constructors."""
    traced = [f for f in project.functions() if facts.stages.stage(f) == "traced"]
    writes = [w for f in traced for w in f.nodes(Write) if isinstance(w.target, Read)]
    placed = {w.target.name for w in writes if not w.bound}
    inits = (project.methods(c).get("__init__") for c in project.classes() if project.is_module(c))
    found = [_of(init, placed) for init in inits if init is not None and init.parameters]
    for changes in found:
        _tell_of_handed(changes, project, placed)
    return found


def _tell_of_handed(changes: Changes, project: Project, placed: set[str]) -> None:
    """`self.a = Part(t)`, `self.b = Part(t)`: an array that several modules are given and keep."""
    init = changes.scope
    assert isinstance(init, Function)
    me, often, holders = init.receiver, rebound(init), dict[str, list[str]]()
    for declare in (d for d in init.nodes(Declare) if d.kind in ARRAYS):
        for path in (_path(declare.expression, me), f"{me}.{declare.name}"):
            if path is not None:
                holders.setdefault(path, []).append(declare.name)
    for made in init.nodes(New):
        turns = any(isinstance(a, (For, Comprehension)) for a in made.ancestors())
        for given, name in _kept_of(made, project):
            path = _path(given, me)
            if path is None or path in often:
                continue
            names = holders.setdefault(path, [])
            names += [name] * (2 if turns and not _is_bound_by(given, made) else 1)
            if len(names) > 1 and not placed.isdisjoint(names):
                changes.report("aliased-write", given, f"{path} and what is given it {_ONE}")


def _is_bound_by(given: Expression, made: New) -> bool:
    """Whether each turn of a loop around has an array of its own: `for t in tables: Part(t)`."""
    bound: set[str] = set()
    for around in made.ancestors():
        if isinstance(around, For):
            bound |= {*target_names(around.target), *names_assigned(around.body)}
        elif isinstance(around, Comprehension):
            bound |= {n for clause in around.clauses for n in target_names(clause.target)}
    return dotted(given) in bound


def _kept_of(made: New, project: Project) -> Iterator[tuple[Expression, str]]:
    """The arrays that a constructor is given and keeps as they are, and their names there."""
    for cls in classes_of(made.function.value) if made.function.value is not None else ():
        init = project.find(cls, "__init__") if isinstance(cls, Class) else None
        if not isinstance(init, Function):
            continue
        words = [p.name for p in init.parameters[1:]]
        for at, (word, given) in enumerate(zip(made.keywords, made.arguments)):
            word = words[at] if word is None and at < len(words) else word
            for declare in init.nodes(Declare):
                array = declare.kind in ARRAYS and isinstance(given.value, Tensor)
                if array and word is not None and dotted(declare.expression) == word:
                    yield given, declare.name


def _of(init: Function, placed: set[str]) -> Changes:
    """`placed`: the arrays that are written in place, by their names."""
    changes, me, often = Changes(init), init.receiver, rebound(init)
    first: dict[str, Declare] = {}  # what a path was declared as, or given to, first
    for declare in init.nodes(Declare):
        given = declare.expression
        if declare.kind not in ARRAYS or given is None or isinstance(given.value, Static):
            continue
        first.setdefault(f"{me}.{declare.name}", declare)
        _tell_of_others(changes, declare, declare.name, given, me, placed)
        path = _path(given, me)
        if path is None or path in often:
            continue
        before = first.setdefault(path, declare)
        pair = {before.name, declare.name}
        beside = before.name != declare.name and before.parent is declare.parent
        if beside and (pair & placed or PARAM in (before.kind, declare.kind)):
            changes.report("aliased-write", declare, f"{' and '.join(sorted(pair))} {_ONE}")
    for write in [w for w in init.nodes(Write) if w.bound and isinstance(w.target, Read)]:
        _tell_of_others(changes, write, write.target.name, write.value, me, placed)
    params = [n for n in init.nodes(NewArray) if n.kind == PARAM]
    names = {n.arguments[0].id for n in params if isinstance(n.arguments[0], Name)}
    for name in [n for n in init.nodes(Name) if n.id in names and _is_kept(n)]:
        changes.report("aliased-write", name, f"{name.id} and what is kept of it {_ONE}")
    registered = [d.expression for d in init.nodes(Declare) if d.kind in ARRAYS]
    lists = [n for n in init.nodes(New) if getattr(n.function, "name", "") == "ParameterList"]
    for given in [*registered, *(a for n in [*params, *lists] for a in n.arguments[:1])]:
        if given is not None and (held := _list_of(given, init, me)) is not None:
            changes.report("tied-weight", given, f"what {text(held)} holds and this {_ONE}")
    return changes


def _list_of(given: Expression, init: Function, me: str) -> Attribute | None:
    """The list of params that methods read, of which some are registered: `self.w[i]`, or what a
    loop over `self.w` binds."""
    turns = [a for a in given.ancestors() if isinstance(a, For)]
    over = [n for t in turns if dotted(given) in target_names(t.target) for n in t.iterable.walk()]
    for node in over or [given.object if isinstance(given, Subscript) else given]:
        listed = node.value if isinstance(node, Attribute) and is_own(node, me) else None
        if isinstance(listed, Sequence) and is_param(listed.element) and init.owner is not None:
            named = [n for n in everywhere(init.owner, Attribute) if n.name == node.name]  # type: ignore[attr-defined]
            again = any(isinstance(n.parent, Declare) and is_target(n) for n in named)
            if not again and any(n.nearest(Function) is not init for n in named):
                return node  # type: ignore[return-value]
    return None


def _is_kept(name: Name) -> bool:
    """`self.weights["q"] = p`, `self.weights.append(p)`"""
    around = name.parent
    if isinstance(around, Assign) and around.expression is name:
        return any(isinstance(t, Subscript) for t in around.targets)
    return isinstance(around, Call) and (dotted(around.function) or "").endswith(".append")


def _tell_of_others(
    changes: Changes, node: Statement, name: str, given: Expression, me: str, placed: set[str]
) -> None:
    """`self.b.mean = self.a.mean`, `self.mean = self.a.mean`: two modules have one array."""
    if not isinstance(given, Read) or isinstance(node, Declare) and is_own(given, me):
        return
    if given.kind != PARAM and {name, given.name} & placed:
        changes.report("aliased-write", node, f"{text(given)} and what is given it {_ONE}")


def _path(given: Expression | None, me: str) -> str | None:
    """`t`, or `self.a`, that is made an array of the module as it is."""
    if isinstance(given, Read) and is_own(given, me):
        return f"{me}.{given.name}"
    return given.id if isinstance(given, Name) else None


PASS = Pass("aliased_arrays", ("stages",), run, of_project=True)
