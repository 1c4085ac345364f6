"""Where interpretation stands: the function, or the file, whose body it is in, and the way to what is inside a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import libcst as cst

from .. import tree
from ..project import FunctionInfo, ModuleInfo
from ..values import NONE, UNKNOWN, Value
from .tables import Inference

Env = dict[str, Value]  # the names of a scope, at one point of it


class Argument(NamedTuple):
    """One argument of a call, with its value."""

    keyword: str | None
    star: str  # "", "*" or "**"
    value: Value
    node: Any = None  # None where it does not stand in the call


# For each class of nodes, what interprets it: of an expression the handler returns the value.
Handlers = Mapping[type, Callable[["Frame", Any, Env], Any]]


class Frame:
    """The interpretation of one function body, or of a file's."""

    def __init__(
        self,
        facts: Inference,
        handlers: Handlers,
        module: ModuleInfo,
        info: FunctionInfo | None,
        closure: Env | None = None,
    ) -> None:
        self.facts, self.handlers, self.module, self.info = facts, handlers, module, info
        self.closure = closure or {}
        self.result: Value | None = None
        self.yields: Value | None = None
        self.jumps: list[list[Env]] = []  # for each loop around the current statement, what held where its turns were left
        method = info.method if info is not None else None
        self.cls = method.owner if method is not None else None

    @property
    def foreign(self) -> bool:
        """Whether the code has nothing to do with tensors."""
        return self.facts.foreign(self.module, self.info)

    def of_function(self, info: FunctionInfo, closure: Env | None = None) -> Frame:
        """The frame of another function, which this one calls or defines."""
        return Frame(self.facts, self.handlers, info.module, info, closure)

    def of_module(self, module: ModuleInfo) -> Frame:
        """The frame of a file, which this one imports from."""
        return Frame(self.facts, self.handlers, module, None)

    def expression(self, node: cst.BaseExpression | None, env: Env) -> Value:
        """The value of an expression, recorded. The recursion of all handlers goes through here."""
        if node is None:
            return NONE
        handler = self.handlers.get(node.__class__)
        value = handler(self, node, env) if handler is not None else self._inside(node, env)
        return self.facts.set(node, value)

    def _inside(self, node: cst.BaseExpression, env: Env) -> Value:
        """Look at what is inside an expression that nothing is known of."""
        for child in tree.children(node):
            for inner in (child,) if isinstance(child, cst.BaseExpression) else tree.children(child):
                if isinstance(inner, cst.BaseExpression):
                    self.expression(inner, env)
        return UNKNOWN

    def block(self, statements: Iterable[Any], env: Env) -> None:
        """Interpret statements in order, those that bind or compute nothing left out; `env` is changed to what holds after them."""
        for statement in statements:
            handler = self.handlers.get(statement.__class__)
            if handler is not None:
                handler(self, statement, env)

    def suite(self, node: Any, env: Env) -> None:
        """Interpret the statements below a node: a branch, a loop, a handler."""
        self.block(tree.body_statements(node), env)
