"""Attributes that a program sets on arrays, which have none in JAX: what nobody asks for goes.

self.bias._no_reinit = True    ->    nothing

Where such a mark is read, it is reported, and raises there.
"""

from typing import Any

from ..facts.values.lattice import UNKNOWN, Tensor
from ..model.expressions import Attribute, Call, Constant
from ..model.names import dotted
from ..model.node import Expression, Node
from ..model.project import Project
from ..model.statements import Assign, ExpressionStatement
from .pass_ import Changes, Pass

# what torch itself sees to when it is set
_OF_TORCH = frozenset({"data", "grad", "requires_grad", "real", "imag", "names"})
_ASKING = ("getattr", "hasattr", "delattr")


def run(project: Project, facts: Any) -> list[Changes]:
    """The changes of all scopes: what is asked for is known of all files together."""
    scopes = [scope for file in project.ordered for scope in file.scopes()]
    stores = [target for scope in scopes for s in scope.nodes(Assign) for target in _targets(s)]
    marks = {target.name for target in stores if _is_mark(target)}
    elsewhere = {target.name for target in stores if not _is_mark(target)}
    found = []
    for scope in scopes if marks else ():
        changes = Changes(scope)
        for statement in scope.nodes(Assign):
            if any(_is_mark(target) for target in _targets(statement)):
                changes.substitute(statement, [ExpressionStatement(_left(statement))])
        targets = {target for s in scope.nodes(Assign) for target in _targets(s)}
        for node in scope.nodes(Attribute, Call):
            name, holder = _asked(node)
            if name not in marks or holder is None or node in targets:
                continue
            if _is_array(holder) or holder.value in (None, UNKNOWN) and name not in elsewhere:
                why = f"{name} is set on a tensor: arrays have no attributes of their own in JAX"
                changes.unconverted("array-attribute", node, why)
        found.append(changes)
    return found


def _targets(statement: Assign) -> list[Attribute]:
    """What a plain assignment to attributes stores into: `p.shared = True`."""
    if statement.operator or not all(isinstance(t, Attribute) for t in statement.targets):
        return []
    return [t for t in statement.targets if isinstance(t, Attribute)]


def _is_mark(target: Attribute) -> bool:
    return _is_array(target.object) and target.name not in _OF_TORCH


def _is_array(node: Expression) -> bool:
    return isinstance(node.value, Tensor) and not node.value.assumed


def _left(statement: Assign) -> Expression:
    """What an assignment leaves: what its value does, or None, which goes."""
    value = statement.expression
    if value is None or not any(isinstance(n, Call) for n in value.walk()):
        return Constant(None)
    return value


def _asked(node: Node) -> tuple[str, Expression | None]:
    """The name and the holder in `p.shared`, `getattr(p, "shared", False)`."""
    if isinstance(node, Attribute):
        return node.name, node.object
    assert isinstance(node, Call)
    if dotted(node.function) not in _ASKING or len(node.arguments) < 2:
        return "", None
    name = node.arguments[1]
    text = name.constant if isinstance(name, Constant) else None
    return (text, node.arguments[0]) if isinstance(text, str) else ("", None)


PASS = Pass("array_marks", ("values",), run, of_project=True)
