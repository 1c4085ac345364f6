"""Where interpretation stands: the function, or the file, whose body it is in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ...model import program
from ...model.node import Expression, Node
from ...model.program import File, Function
from ...model.statements import Block
from . import lattice
from .lattice import NONE, UNKNOWN, Class, Package, Value
from .tables import Facts

Env = dict[str, Value]  # the names of a scope, at one point of it
Handlers = Mapping[type, Callable[["Frame", Any, Env], Any]]


class Argument(NamedTuple):
    """One argument of a call, with its value."""

    keyword: str | None
    star: str  # "", "*" or "**"
    value: Value
    node: Any = None  # None where it does not stand in the call


class Frame:
    """The interpretation of one function body, or of a file's."""

    __slots__ = (
        "facts",
        "expressions",
        "statements",
        "file",
        "function",
        "closure",
        "result",
        "yields",
        "jumps",
        "first_turns",
        "cls",
    )

    def __init__(
        self,
        facts: Facts,
        expressions: Handlers,
        statements: Handlers,
        file: File,
        function: Function | None,
        closure: Env | None = None,
    ) -> None:
        self.facts, self.expressions, self.statements = facts, expressions, statements
        self.file, self.function, self.closure = file, function, closure or {}
        self.result: Value | None = None
        self.yields: Value | None = None
        self.jumps: list[list[Env]] = []  # for each loop around, what held where it was left
        self.first_turns = 0  # of the loops around, how many have another turn to come
        method = facts.project.method(function)
        self.cls = facts.project.owner(method) if method is not None else None

    @property
    def foreign(self) -> bool:
        """Whether the code has nothing to do with tensors."""
        return self.facts.foreign(self.file, self.function)

    @property
    def constructs(self) -> bool:
        """Whether it is a constructor's."""
        return self.function is not None and self.function.name == "__init__"

    @property
    def nested(self) -> bool:
        """Whether it is that of a function inside another, which runs some time after."""
        return self.function is not None and self.facts.project.outer(self.function) is not None

    def of_function(self, function: Function, closure: Env | None = None) -> Frame:
        """The frame of another function, which this one calls or defines."""
        assert function.file is not None
        frame = (self.facts, self.expressions, self.statements)
        return Frame(*frame, function.file, function, closure)

    def of_file(self, file: File) -> Frame:
        """The frame of a file, which this one imports from."""
        return Frame(self.facts, self.expressions, self.statements, file, None)

    def expression(self, node: Expression | None, env: Env) -> Value:
        """The value of an expression, recorded. The recursion of all handlers goes through here."""
        if node is None:
            return NONE
        handler = self.expressions.get(node.__class__)
        value = handler(self, node, env) if handler is not None else self.inside(node, env)
        return self.facts.set(node, value)

    def defined(self, found: Any) -> Value | None:
        """The value of what stands in a file of the project: a class, a function, a name."""
        if isinstance(found, program.Class):
            return Class(found)
        if isinstance(found, program.Function):
            return lattice.Function(found)
        if isinstance(found, program.File):
            return Package(found)
        return self.facts.expression(found) if isinstance(found, Expression) else None

    def inside(self, node: Node, env: Env) -> Value:
        """Look at what is inside an expression that nothing is known of."""
        for child in node.children():
            if isinstance(child, Expression):
                self.expression(child, env)
        return UNKNOWN

    def block(self, block: Block | None, env: Env) -> None:
        """Interpret the statements of a block; `env` becomes what holds after them."""
        if block is not None:
            self.run(block.body, env)

    def run(self, statements: Iterable[Node], env: Env) -> None:
        """Interpret statements in order, those that bind or compute nothing left out."""
        for statement in statements:
            handler = self.statements.get(statement.__class__)
            if handler is not None:
                handler(self, statement, env)
