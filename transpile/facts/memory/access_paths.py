"""By which path memory is known in a function: `x`, `self.x`, `self.bn.running_mean`."""

from typing import Any

from ...model.effects import Mode, Read
from ...model.expressions import Attribute, Call, Constant, Display, Name, Slice, Subscript
from ...model.node import Expression, Node
from ...model.operators import Binary, Boolean, Compare, Unary
from ...model.program import Class
from ...model.project import Project
from ..values.lattice import UNKNOWN, Module, Tensor, Value


def of(node: Node | None) -> Value:
    """What an expression may be; UNKNOWN also of what has no value."""
    value: Value | None = getattr(node, "value", None)
    return value if isinstance(value, Value) else UNKNOWN


def spelled(node: Node | None) -> str | None:
    """How an expression is written, without its layout; None of what has other parts than names,
    numbers, attributes, indices, operators and calls."""
    if node is None:
        return ""
    if isinstance(node, Name):
        return node.id
    if isinstance(node, Constant):
        return repr(node.constant)
    render = _FORMS.get(node.__class__) or _FORMS.get(node.__class__.__mro__[1])
    parts = [spelled(child) for child in _children(node)]
    if render is None or any(part is None for part in parts):
        return None
    return str(render(node, *parts))


def _children(node: Node) -> list[Node | None]:
    if isinstance(node, Slice):
        return [node.lower, node.upper, node.step]
    return list(node.children())


_FORMS: dict[type, Any] = {
    Attribute: lambda node, base: f"{base}.{node.name}",
    Mode: lambda node, base: f"{base}.training",
    Subscript: lambda node, base, index: f"{base}[{index}]",
    Slice: lambda node, *parts: ":".join(parts),
    Display: lambda node, *parts: f"{node.kind}({', '.join(parts)})",
    Unary: lambda node, operand: f"({node.operator} {operand})",
    Binary: lambda node, left, right: f"({left} {node.operator} {right})",
    Boolean: lambda node, left, right: f"({left} {node.operator} {right})",
    Compare: lambda node, *parts: f"({parts} {node.operators})",
    Call: lambda node, function, *parts: f"{function}({node.keywords}, {', '.join(parts)})",
}


class Paths:
    """The paths of one function. `samples` has an expression for each that has been met."""

    def __init__(self, project: Project, self_name: str | None) -> None:
        self.project, self.self_name = project, self_name
        self.samples: dict[str, Expression] = {}

    def name(self, node: Any) -> str | None:
        """`x`, or `self.x`: what the function calls self is always `self` here."""
        if isinstance(node, Name):
            self.samples.setdefault(node.id, node)
            return node.id
        if isinstance(node, Attribute) and self.is_self(node.object):
            path = f"self.{node.name}"
            self.samples.setdefault(path, node)
            return path
        return None

    def path(self, node: Any) -> str | None:
        """`x`, `self.x`, or the path of an array of another module: `self.bn.running_mean`."""
        return self.name(node) or self.state(node)

    def state(self, node: Any) -> str | None:
        """The path of an array of a module that is not self."""
        if not self.is_array(node) or self.is_self(node.object):
            return None
        text = spelled(node)
        if text is None or "(" in text:
            return None
        path = self.from_self(text)
        self.samples.setdefault(path, node)
        return path

    def is_array(self, node: Any) -> bool:
        """Whether an expression is an array of a module: a Read, or, before those are made, an
        attribute that no method or property gives."""
        if isinstance(node, Read):
            return True
        if not isinstance(node, Attribute) or not isinstance(of(node), Tensor):
            return False
        held = of(node.object)
        if not isinstance(held, Module):
            return False
        own = [ref for ref in held.refs if isinstance(ref, Class)]
        return all(self.project.find(ref, node.name) is None for ref in own)

    def is_self(self, node: Any) -> bool:
        return isinstance(node, Name) and node.id == self.self_name

    def from_self(self, path: str) -> str:
        """A path with what the function calls self as `self`."""
        own = f"{self.self_name}."
        return f"self.{path.removeprefix(own)}" if path.startswith(own) else path


def on_module(path: str) -> bool:
    """Whether a path is that of an attribute, which outlives the call."""
    return "." in path
