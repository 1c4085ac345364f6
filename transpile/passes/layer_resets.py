"""Layers of torch's begin with their own values: to be given those once more, while a model is
built and before anything else was written there, is nothing.

def reset_parameters(self):              def reset_parameters(self):
    self.conv.reset_parameters()    →        nn.init.zeros_(self.bias)
    nn.init.zeros_(self.bias)

The layers of the output have no such method: what cannot go raises, and is told.
"""

from collections.abc import Iterator
from typing import Any

from ..facts.values.calls import is_super
from ..facts.values.lattice import Module
from ..facts.values.solve import with_callers
from ..model.effects import Apply, Write
from ..model.expressions import Attribute, Call, Constant
from ..model.names import dotted
from ..model.node import Expression
from ..model.program import Class, Function, Scope
from ..model.project import Project
from ..model.statements import ExpressionStatement, For, While
from .pass_ import Changes, Pass

_RESETS = frozenset(("reset_parameters", "_reset_parameters", "reset_running_stats"))
_OWN = "torch's {} is no method of a layer here: write what it does"
_WHY = "layers have no such method here, and this one may have other values by now: write them"
_LATER = (
    "layers have no such method here, so that this resets them while a model is built alone: build "
    "another model"
)


def run(project: Project, facts: Any) -> list[Changes]:
    """Take the resets of layers out of what builds models."""
    found = {function: Changes(function) for function in project.functions()}
    first: set[Function] = set()
    for function, changes in found.items():
        _own(changes, function, facts)
        for call, classes in _resets(function, facts):
            if not _is_first(call, classes, function, facts):
                changes.unconverted("unsupported", call, _WHY)
                continue
            changes.replace(call, Constant(None))
            first.add(function)
    for function, call in _later(first, facts):
        found[function].unconverted("unsupported", call, _LATER)
    return [changes for changes in found.values() if changes]


def _own(changes: Changes, function: Function, facts: Any) -> None:
    """`self.reset_running_stats()`, `super().reset_parameters()` of a layer of torch's, which has
    no such method here."""
    owner, me = function.owner, function.receiver
    for call in function.nodes(Call, Apply) if owner is not None and me else ():
        method = call.function
        if not isinstance(method, Attribute) or method.name not in _RESETS:
            continue
        lineage = facts.modules.lineage(owner)
        above = lineage[1:] if is_super(method.object) else lineage
        if above is lineage and dotted(method.object) != me:
            continue
        if any(method.name in facts.modules.home(cls).methods(cls) for cls in above):
            continue
        if any(map(facts.modules.is_library, lineage)):
            changes.unconverted("unsupported", call, _OWN.format(method.name))


def _resets(function: Function, facts: Any) -> Iterator[tuple[Call, list[Class]]]:
    """The calls that reset layers of torch's alone, with the classes of these."""
    for statement in function.nodes(ExpressionStatement):
        call = statement.expression
        method = call.function if isinstance(call, Call) else None
        if not isinstance(call, Call) or not isinstance(method, Attribute):
            continue
        if method.name not in _RESETS:
            continue
        held = method.object.value
        if not isinstance(held, Module) or held.open or held.is_self:
            continue
        classes = facts.modules.classes_of(held.refs)
        of_torch = all(map(facts.modules.is_library, classes))
        if classes and of_torch and not any(facts.modules.find(c, method.name) for c in classes):
            yield call, classes


def _is_first(call: Call, classes: list[Class], function: Function, facts: Any) -> bool:
    """Whether the layers have their first values for certain: what resets them is run while a model
    is built alone, and whatever writes arrays of such layers comes after it."""
    project, built = facts.project, facts.stages.built
    if function not in built or any(_calls(file, function.name) for file in project.ordered):
        return False
    for other in project.functions():
        for write in other.nodes(Write):
            if _is_of(write.target.object, classes, facts):
                if not _is_behind(write, call, function):
                    return False
    return True


def _later(first: set[Function], facts: Any) -> Iterator[tuple[Function, Call]]:
    """The calls that may reset, in a model that has been built, what is left out of these."""
    built = facts.stages.built
    resetting = {f for f in with_callers(facts.calls.graph, first, built) if f.name != "__init__"}
    names = {f.name for f in resetting}
    for function in (f for f in facts.project.functions() if f not in built):
        for call in function.nodes(Call, Apply):
            method = call.function
            if isinstance(method, Attribute) and method.name in names:
                if _may_run(method, resetting, facts):
                    yield function, call


def _may_run(method: Attribute, functions: set[Function], facts: Any) -> bool:
    held = method.object.value
    known = isinstance(held, Module) and not held.open
    classes = facts.modules.classes_of(held.refs) if known else []
    below = [one for cls in classes for one in (cls, *facts.modules.below(cls))]
    return not classes or any(facts.modules.find(c, method.name) in functions for c in below)


def _calls(scope: Scope, name: str) -> bool:
    calls = (call.function for call in scope.nodes(Call, Apply))
    return any(isinstance(method, Attribute) and method.name == name for method in calls)


def _is_of(node: Expression, classes: list[Class], facts: Any) -> bool:
    """Whether a module may be of one of these classes."""
    held = node.value
    known = facts.modules.classes_of_value(held)
    return not known or held.open or not set(classes).isdisjoint(known)


def _is_behind(write: Write, call: Call, function: Function) -> bool:
    """Whether a write comes after a call, and no loop goes back."""
    if write.nearest(Function) is not function:
        return False
    turns = (n for n in call.ancestors() if isinstance(n, (For, While)))
    order = [n for n in function.body.walk() if n is write or n is call]
    return order[0] is call and not any(write in n.walk() for n in turns)


PASS = Pass("layer_resets", ("values", "stages"), run, of_project=True)
