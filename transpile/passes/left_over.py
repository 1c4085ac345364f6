"""What only reports: methods of torch's that no pass took, and that nothing has here.

loss.backward()     n = sum(p.numel() for p in model.parameters())     of a model of any class
"""

from __future__ import annotations

from typing import Any

from ..facts.values.lattice import UNKNOWN, Class, Function, Module, Value
from ..model.expressions import Attribute, Call
from ..model.names import dotted
from ..model.project import Project
from .pass_ import Changes, Pass

_ARRAYS = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})
_GRADIENTS = "backward() is still called: gradients are of functions here"


def run(project: Project, facts: Any) -> list[Changes]:
    """The reports for all scopes."""
    found = []
    for scope in [s for file in project.ordered for s in file.scopes()]:
        changes = Changes(scope)
        for call in scope.nodes(Call):
            if isinstance(call.function, Attribute):
                _method(changes, call, call.function, facts)
        found.append(changes)
    return found


def _method(changes: Changes, call: Call, function: Attribute, facts: Any) -> None:
    value = function.value
    if isinstance(value, (Function, Class)) or _is_super(function):
        return
    if function.name == "backward":
        changes.report("training-loop", call, _GRADIENTS)
    elif not call.arguments and _asks_for_arrays(function, facts):
        message = f"which arrays {function.name}() means here is not known: "
        changes.report("module-value", call, message + "a module has none of its own")


def _is_super(function: Attribute) -> bool:
    return isinstance(function.object, Call) and dotted(function.object.function) == "super"


def _asks_for_arrays(function: Attribute, facts: Any) -> bool:
    """`model.named_parameters()` of a model of any class, `self.net.state_dict()` of what a module
    holds: no module has such methods here, but what is none may have its own.
    """
    owners = facts.values.facts.owners.get(function.name, ())
    holder = function.object
    if function.name in _ARRAYS:  # of a module that is known the dialects see to it
        return not owners and not isinstance(holder.value, Module)
    if function.name != "state_dict" or not isinstance(holder, Attribute):
        return False
    if any(not facts.project.is_module(cls) for cls in owners):
        return False
    base, held = holder.object.value, holder.value or UNKNOWN
    return isinstance(base, Module) and base.is_self and _is_any_module(held)


def _is_any_module(value: Value) -> bool:
    return value in (UNKNOWN, Module(open=True))


PASS = Pass("left_over", ("values",), run, of_project=True)
