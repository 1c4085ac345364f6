"""Blocks under control of data: on the host, and what they write of params and state."""

from ...facts.array_paths import container_changed
from ...model.control_flow import Cond, Loop, Repeat, Scan, leave_to_python
from ...model.copy import clone
from ...model.effects import Support
from ...model.expressions import Call, Constant, Display, Name, Subscript
from ...model.node import Expression, Node, Statement
from ...model.program import Function
from ...model.statements import Assign, Delete


def on_host(function: Function) -> None:
    """Where a model is built all numbers are known: Python decides."""
    for node in function.nodes(Cond, Loop, Repeat, Scan):
        leave_to_python(node)


def stored(node: Node) -> list[Expression]:
    """The places that a statement writes into, or a call: `state["seen"].append(x)`, or one of what
    is handed on with its state."""
    if (changed := container_changed(node)) is not None:
        return [Subscript(clone(changed), Constant(0))]  # some entry
    if isinstance(node, Delete):
        return node.targets
    if isinstance(node, Call) and isinstance(node.function, Support):
        part = node.arguments[1:] if node.function.name == "stateful" else []
        return [Subscript(clone(part[0]), clone(part[-1]))] if part else []
    if not isinstance(node, Assign):
        return []
    found: list[Expression] = []
    for target in node.targets:
        found += target.elements if isinstance(target, Display) else [target]
    return found


def depth(target: Expression, name: str) -> int:
    """How many entries deep a place is below a name; 0 where it is none."""
    found = 0
    while isinstance(target, Subscript):
        target, found = target.object, found + 1
    return found if isinstance(target, Name) and target.id == name else 0


def gives(node: Statement, whole: str) -> bool:
    """Whether a block gives new params, or a new state."""
    for inner in node.walk():
        for target in stored(inner):
            if depth(target, whole) or isinstance(target, Name) and target.id == whole:
                return True
    return False
