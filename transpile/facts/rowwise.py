"""Modules that compute each row by itself, along its last dim: of chosen rows they make what they
make of these rows among all.

    self.fc = nn.Sequential(nn.Linear(8, 8), nn.ReLU())          out[mask] = self.fc(x[mask])
"""

from collections.abc import Callable

from ..model.expressions import Attribute, Call, Name, Starred
from ..model.names import is_docstring
from ..model.node import Expression
from ..model.operators import Binary, Unary
from ..model.program import Class
from ..model.project import Project
from ..model.rulebook import Rulebook
from ..model.statements import Assign, Return
from .memory.access_paths import of
from .values.lattice import Method, Module, Static, Tensor, Torch

Leaf = Callable[[Expression], bool]


class Rowwise:
    """The question for one project; `elementwise` are functions and methods by their last names."""

    def __init__(self, project: Project, rulebook: Rulebook, elementwise: frozenset[str]) -> None:
        self.project, self.elementwise = project, elementwise
        self.layers: frozenset[str] = frozenset(rulebook.table("LAYERS_BY_ROWS"))

    def module(self, module: Module, above: tuple[Class, ...] = ()) -> bool:
        """Whether a module computes each row by itself, whichever of its classes it is."""
        if module.open or not module.classes:  # None would raise where it is called
            return False
        return all(
            self._layer(module, ref)
            if isinstance(ref, str)
            else ref not in above and self._class(ref, (*above, ref))
            for ref in module.refs
        )

    def _layer(self, module: Module, name: str) -> bool:
        last = name.rpartition(".")[2]
        if last in ("Sequential", "ModuleList") and module.items is not None:
            return all(isinstance(v, Module) and self.module(v) for _, v in module.items)
        return name.startswith("torch.nn.") and last in self.layers

    def _class(self, cls: Class, above: tuple[Class, ...]) -> bool:
        """`def forward(self, x): return self.w2(F.silu(self.w1(x)) * self.w3(x))`"""
        forward = self.project.find(cls, "forward") or self.project.find(cls, "__call__")
        names = [p.name for p in self.project.parameters(forward)] if forward is not None else []
        if forward is None or len(names) != 1:
            return False
        rows = {names[0]}
        given: Leaf = lambda node: isinstance(node, Name) and node.id in rows
        for statement in forward.body.body:
            if is_docstring(statement):
                continue
            if isinstance(statement, Return):
                value = statement.expression
                last = statement is forward.body.body[-1]
                return last and value is not None and self.rows(value, given, above)
            target = statement.targets[0] if isinstance(statement, Assign) else None
            if not isinstance(statement, Assign) or not isinstance(target, Name):
                return False
            value = statement.expression
            if statement.operator or len(statement.targets) > 1 or value is None:
                return False
            if not self.rows(value, given, above):
                return False
            rows.add(target.id)
        return False

    def rows(self, node: Expression, given: Leaf, above: tuple[Class, ...] = ()) -> bool:
        """Whether an expression has a row for each of what is given."""
        if given(node):
            return True
        if isinstance(node, Unary):
            return node.operator == "-" and self.rows(node.operand, given, above)
        if isinstance(node, Binary):
            sides = [node.left, node.right]
            return node.operator != "@" and self._all(sides, given, above)
        if not isinstance(node, Call) or any(isinstance(a, Starred) for a in node.arguments):
            return False
        value = of(node.function)
        plain = node.positional
        if isinstance(value, Module):
            one = len(node.arguments) == 1 == len(plain) and self.rows(plain[0], given, above)
            return one and self.module(value, above)
        function = node.function
        if isinstance(value, Method) and isinstance(function, Attribute):
            if not isinstance(of(function.object), Tensor):
                return False
            plain = [function.object, *plain]
        elif not isinstance(value, Torch):
            return False
        name = value.name.rpartition(".")[2]
        return name in self.elementwise and bool(plain) and self._all(plain, given, above)

    def _all(self, nodes: list[Expression], given: Leaf, above: tuple[Class, ...]) -> bool:
        """Whether these are rows, one at least, and numbers."""
        found = [self.rows(node, given, above) for node in nodes]
        return any(found) and all(
            is_rows or isinstance(of(node), Static) for is_rows, node in zip(found, nodes)
        )
