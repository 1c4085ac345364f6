"""What only reports: methods of torch's that no pass took, and that nothing has here.

loss.backward()     n = sum(p.numel() for p in model.parameters())     of a model of any class

And stores that no pass took, getattr(self.fc, name).data = w, and attributes of layers of torch's
that these have not here: self.lstm._flat_weights
"""

from collections.abc import Iterable
from typing import Any

from ..facts.modules import Modules
from ..facts.values.attribute_names import torch_method
from ..facts.values.lattice import UNKNOWN, Class, Function, Method, Module, Static, Value
from ..model.effects import Apply, Unconverted, Write
from ..model.expressions import Attribute, Call, Name
from ..model.names import dotted, stored_by
from ..model.node import Expression, Statement
from ..model.positions import source_of
from ..model.program import Class as Definition
from ..model.program import Scope
from ..model.project import Project
from ..model.statements import Assign
from .attribute_names import Attributes
from .pass_ import Changes, Pass

_ARRAYS = frozenset({"parameters", "named_parameters", "buffers", "named_buffers"})
_COMPUTED = "an array of a module is written under a computed name: write out the name"
_GRADIENTS = "backward() is still called: gradients are of functions here"


def run(project: Project, facts: Any) -> list[Changes]:
    """The reports for all scopes."""
    found, missing = [], _Missing(project, facts.modules)
    for scope in [s for file in project.ordered for s in file.scopes()]:
        changes = Changes(scope)
        for call in scope.nodes(Call):
            if isinstance(call.function, Attribute):
                _method(changes, call, call.function, facts)
        for node in filter(missing, scope.nodes(Attribute)):
            message = (
                f"no layer has {node.name} here: keep what it says, or read its params by name"
            )
            changes.unconverted("unsupported", node, message)
        for assign in scope.nodes(Assign):
            _stores(changes, assign, assign.targets, assign.expression, scope)
        for write in scope.nodes(Write):
            _stores(changes, write, [write.target], write.value, scope)
        found.append(changes)
    return found


class _Missing:
    """Whether an attribute is asked of layers of torch's alone, that have it there at most."""

    def __init__(self, project: Project, modules: Modules) -> None:
        self.modules, self._named = modules, Attributes(project)

    def __call__(self, node: Attribute) -> bool:
        held = node.object.value
        if not isinstance(held, Module) or held.open or held.element or held.items:
            return False
        if not isinstance(node.object, Attribute):  # `isinstance(m, Net): m.w` in a walk
            return False
        if node.value != Static() and not isinstance(node.value, Method):
            return False
        name = node.name.lstrip("_")  # `_modules`
        if not name or node.name[:2] == "__" or torch_method(name) or name in self._named.texts:
            return False
        if any(stored_by(n) is not None for n in self._named.attributes[node.name]):
            return False
        known = self.modules.classes_of(held.refs)
        ours = known and len(known) == len(held.refs) and all(map(self.modules.is_library, known))
        return bool(ours) and not any(self._has(layer, node.name) for layer in known)

    def _has(self, layer: Definition, name: str) -> bool:
        return name in self.modules.fields(layer) or self.modules.find(layer, name) is not None


def _stores(
    changes: Changes,
    statement: Statement,
    targets: Iterable[Expression],
    value: Expression | None,
    scope: Scope,
) -> None:
    for target in targets:
        if isinstance(target, Attribute) and target.name == "data" and value is not None:
            if _is_looked_up(target.object, scope):
                changes.report("parameter-write", target, _COMPUTED)
                changes.replace(value, Unconverted("parameter-write", source_of(statement)))


def _is_looked_up(node: Expression, scope: Scope) -> bool:
    """`getattr(self.fc, name)`, or a name for it: an array has no data that could be set."""
    if isinstance(node, Name):
        bound = [a for a in scope.nodes(Assign) if any(dotted(t) == node.id for t in a.targets)]
        found = [a.expression for a in bound]
    else:
        found = [node]
    return any(
        isinstance(n, Call) and dotted(n.function) == "getattr" and _is_of_module(n) for n in found
    )


def _is_of_module(call: Call) -> bool:
    return bool(call.arguments) and isinstance(call.arguments[0].value, Module)


def _method(changes: Changes, call: Call, function: Attribute, facts: Any) -> None:
    value = function.value
    if isinstance(value, (Function, Class)) or isinstance(call, Apply) or _is_super(function):
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


PASS = Pass("unconverted_methods", ("values",), run, of_project=True)
