"""The walk over one file: where it stands, how what is below a node is converted, and how what cannot be is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import libcst as cst

from ... import tree
from ...apply import Argument, Refused, apply, choose
from ...context import Context
from ...project import FunctionInfo
from ...rulebook import Definition
from ...values import UNKNOWN, Tensor, Torch


class Walk:
    """What the parts of the pass share while they go through one file."""

    def __init__(self, context: Context, running: set[FunctionInfo], forward: set[FunctionInfo], visit: Callable[[Walk, Any], Any]) -> None:
        """`visit` converts a node, or gives None to go on below."""
        self.context, self.running, self.forward, self._visit = context, running, forward, visit
        self.functions: list[cst.FunctionDef] = []  # those around the current place, outermost first
        self.runs = False
        self.compared = 0  # the comparisons around the current place: no gradient passes through them
        self.dropped: Any = None  # the expression of the last statement that is nothing else: its value goes nowhere
        self.kept: dict[int, Any] = {}  # the numbers that meet no array, by id: `int(np.sqrt(n))`
        self.beside: dict[int, Any] = {}  # calls that make a number which meets an array, by id: `x * torch.tensor(2.0)`
        self.script = False  # inside a loop or `if __name__ == "__main__"` of the file itself: no mere import runs it

    def visit(self, node: Any) -> Any:
        """A node converted, or None to go on below it."""
        return self._visit(self, node)

    def convert(self, node: Any) -> Any:
        """A node with all that is in it converted."""
        return tree.rewrite(node, self.visit)

    def children(self, node: Any) -> Any:
        """The node with everything below converted; the node itself is not looked at again."""
        first = True

        def before(n: cst.CSTNode) -> Any:
            nonlocal first
            if first:
                first = False
                return None
            return self.visit(n)

        return tree.rewrite(node, before)

    def only(self, node: Any, field: str) -> Any:
        """A node of which one field is converted: the others are names."""
        value = getattr(node, field)
        new = self.convert(value)
        return node if new is value else tree.replace(node, **{field: tree.fit(node, field, new)})

    def with_target(self, node: Any) -> Any:
        """A name that is assigned is not a reference to torch."""
        changes = {}
        kind: type[cst.CSTNode] = type(node)
        for field in tree.fields(kind):
            old = getattr(node, field)
            if field == "target" or not isinstance(old, cst.CSTNode) and not (isinstance(old, (list, tuple)) and old):
                continue
            new = self.convert(old) if isinstance(old, cst.CSTNode) else [self.convert(o) for o in old]
            if new is not old:
                changes[field] = tree.fit(node, field, new) if isinstance(old, cst.CSTNode) else new
        if not changes:
            return node
        made = tree.replace(node, **changes)
        self.context.facts.carry(node, made)
        return made

    def in_header(self, node: Any) -> Any:
        """Decorators, defaults and bases run when the file is imported."""
        functions, self.functions = self.functions, []
        new = self.convert(node)
        self.functions = functions
        return new

    def rules(self, name: str) -> tuple[Definition, ...]:
        """The rules of a torch name; a rule for `name[compared]` goes first where no gradient passes."""
        find = self.context.rulebook.find
        return self.compared and find(f"{name}[compared]") or find(name)

    def arguments(self, node: cst.Call) -> list[Argument]:
        """The arguments of a call, converted, with their values."""
        value = self.context.value
        return [Argument(self.convert(a.value), value(a.value), a.keyword.value if a.keyword else None, a.star) for a in node.args]

    def apply(self, node: Any, definitions: tuple[Definition, ...], name: str, arguments: list[Argument]) -> Any:
        """What the rules of a torch name make of a use of it; reported where they refuse."""
        try:
            made = apply(self.context, definitions, arguments)
            self.tell_size(node, definitions, name, arguments)
            return self.done(node, made)
        except Refused as refused:
            if str(refused):
                return self.unconverted("unsupported", node, f"{name}: {refused}")
            return self.unconverted("arguments", node, f"these arguments of {name} have no JAX equivalent here")

    def tell_size(self, node: Any, definitions: tuple[Definition, ...], name: str, arguments: list[Argument]) -> None:
        """Report a use of these rules in a forward pass whose result has a size that follows from data."""
        if not any(d.by_data for d in definitions) or not self.is_traced():
            return
        arguments = [replace(a, value=Tensor()) if self._may_be_data(a) else a for a in arguments]
        if (binding := choose(definitions, arguments)) is not None and binding.is_sized_by_data():
            self.context.report("data-dependent-shape", node, f"{name} gives as much as the data make of it, which jax.jit cannot know")

    def _may_be_data(self, argument: Argument) -> bool:
        """Whether an argument is a parameter that some calls give numbers, and others in forward passes what is traced."""
        named = self.info is not None and isinstance(argument.node, cst.Name) and argument.value == UNKNOWN
        return named and (self.info, argument.node.value) in self.context.facts.given_data

    def is_traced(self) -> bool:
        """Whether the current place runs in a forward pass."""
        return any(self.context.facts.by_node.get(id(f)) in self.forward for f in self.functions)

    def done(self, node: cst.CSTNode, new: Any) -> Any:
        """What stands for a node, which keeps its value."""
        self.context.facts.carry(node, new)
        return new

    def no_rule(self, node: Any, name: str) -> Any:
        """A torch name without a rule: reported."""
        return self.unconverted("no-rule", node, f"{name} has no JAX equivalent here")

    def unconverted(self, id: str, node: Any, message: str) -> Any:
        """Report, and what raises where the node stood."""
        if not self.functions and not self.script:
            return self.context.unconverted_at_import(id, node, message)
        return self.context.unconverted(id, node, message)

    def torch_name(self, node: Any) -> str | None:
        """The torch name that an expression refers to through an import; a local alias keeps its own name."""
        dotted = tree.dotted(node)
        head = dotted.split(".")[0] if dotted else ""
        module = self.context.module
        imported = head in module.imports or bool(module.stars) and head not in module.assigned
        own = head != dotted and head in module.assigned and self.context.facts.project.resolve(module, head) is module  # `ops = sys.modules[__name__]`
        if not (imported or own) or not self.context.is_original(node):
            return None
        value = self.context.value(node)
        if isinstance(value, Torch):
            return value.name
        if id(node) in self.context.facts.values:
            return None
        if head not in module.imports and not own:
            return None
        resolved = self.context.facts.project.resolve(self.context.module, dotted or "")
        return resolved if isinstance(resolved, str) and (resolved == "torch" or resolved.startswith("torch.")) else None

    @property
    def info(self) -> FunctionInfo | None:
        """The function around what is looked at, if one is."""
        return self.context.facts.by_node.get(id(self.functions[-1])) if self.functions else None

    @property
    def body(self) -> cst.CSTNode:
        """The body of that function, or the file, as the user wrote it."""
        return self.functions[-1].body if self.functions else self.context.module.source

    def foreign(self) -> bool:
        """Whether the code here has nothing to do with tensors."""
        return self.context.facts.foreign(self.context.module, self.info)
