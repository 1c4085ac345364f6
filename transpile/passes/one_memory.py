"""Arrays of a module that are one tensor in torch, where each is an array of its own here.

self.register_buffer("a", t)        reported, where something writes into one of them in place,
self.register_buffer("b", t)        or where one is a param, which is trained
"""

from typing import Any

from ..facts.modules import ARRAYS
from ..facts.values.lattice import Static
from ..model.effects import PARAM, Declare, Read, Write
from ..model.expressions import Name
from ..model.names import is_own, rebound
from ..model.node import Expression
from ..model.program import Function
from ..model.project import Project
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
    return [_of(init, placed) for init in inits if init is not None and init.parameters]


def _of(init: Function, placed: set[str]) -> Changes:
    """`placed`: the arrays that are written in place, by their names."""
    changes, me, often = Changes(init), init.parameters[0].name, rebound(init)
    first: dict[str, Declare] = {}  # what a path was declared as, or given to, first
    for declare in init.nodes(Declare):
        given = declare.expression
        if declare.kind not in ARRAYS or given is None or isinstance(given.value, Static):
            continue
        first.setdefault(f"{me}.{declare.name}", declare)
        path = _path(given, me)
        if path is None or path in often:
            continue
        before = first.setdefault(path, declare)
        pair = {before.name, declare.name}
        beside = before.name != declare.name and before.parent is declare.parent
        if beside and (pair & placed or PARAM in (before.kind, declare.kind)):
            changes.report("aliased-write", declare, f"{' and '.join(sorted(pair))} {_ONE}")
    return changes


def _path(given: Expression, me: str) -> str | None:
    """`t`, or `self.a`, that is made an array of the module as it is."""
    if isinstance(given, Read) and is_own(given, me):
        return f"{me}.{given.name}"
    return given.id if isinstance(given, Name) else None


PASS = Pass("one_memory", ("stages",), run, of_project=True)
