"""From the source of a file to the model."""

import ast
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import Any

from ..model.node import Node, Statement
from ..model.program import Class, File, Function
from ..model.statements import (
    Assert,
    Assign,
    Block,
    Break,
    Continue,
    Declaration,
    Delete,
    ExpressionStatement,
    For,
    Handler,
    If,
    Import,
    Imported,
    OpaqueStatement,
    Pass,
    Raise,
    Return,
    Try,
    While,
    With,
)
from .files import python_tree
from .lower_ast import ExpressionLowering, binary_operator, outer_end
from .places import Places


def lower(text: str, path: PurePosixPath) -> File:
    """A file as a model. Raises SyntaxError where it is not Python."""
    file = File(path, text, Block())
    lowering = Lowering(Places(file, text))
    file.body = lowering.statements(python_tree(text).body, "module")
    file.body.start, file.body.end, file.body.indent = 0, len(text), ""
    file.start, file.end, file.file = 0, len(text), file
    file.body.parent = file.body.file = file
    return file


def lower_statements(nodes: Iterable[ast.stmt]) -> list[Statement]:
    """Statements that stand nowhere: of rules."""
    return list(map(Lowering().statement, nodes))


class Lowering(ExpressionLowering):
    """The lowering of one file."""

    # --- blocks ----------------------------------------------------------------------------------

    def statements(self, nodes: Iterable[ast.stmt], form: str = "indented") -> Block:
        made = list(map(self.statement, nodes))
        block = Block(made, form)
        if made:
            self.put(block, made[0].start, made[-1].end)
        return block

    def suite(self, nodes: list[ast.stmt], header: int) -> Block:
        """The body of a compound statement, whose header goes on at an offset."""
        block = self.statements(nodes)
        if self.places is not None:
            text, start = self.places.text, self.places.suite(header)
            if start is None:
                block.form = "inline"
            else:
                block.indent = text[text.rfind("\n", 0, block.start) + 1 : block.start]
                stop = text.find("\n", block.end)
                block.start, block.end = start, len(text) if stop < 0 else stop
        return block

    def _orelse(self, nodes: list[ast.stmt], before: Block, chained: bool = False) -> Block | None:
        if not nodes:
            return None
        if chained and len(nodes) == 1 and isinstance(nodes[0], ast.If):
            start = before.end if self.places is None else self.place(nodes[0])[0]
            if self.places is None or self.places.text.startswith("elif", start):
                block = self.statements(nodes, "elif")
                block.body[0].start += len("el") * (self.places is not None)
                return block
        return self.suite(nodes, before.end)

    # --- statements ------------------------------------------------------------------------------

    def statement(self, node: ast.stmt) -> Statement:
        made = _STATEMENTS[node.__class__](self, node)
        if self.places is not None:
            self.put(made, *self.place(node))
            blocks = [c.end for c in made.children() if isinstance(c, (Block, Handler))]
            made.end = max(blocks, default=made.end)
            if isinstance(made, (Function, Class)) and made.decorators:
                made.start = self.places.text.rindex("@", 0, made.decorators[0].start)
        return made

    def _header(self, node: Any, *parts: Node | None) -> int:
        """Where the header of a statement goes on behind its parts."""
        if self.places is None:
            return 0
        ends = [self.place(word)[1] for word in getattr(node, "type_params", ())]  # of 3.12
        ends += [outer_end(part) for part in parts if part is not None]
        return max([self.place(node)[0], *ends])

    def if_(self, node: ast.If) -> If:
        test = self.expression(node.test)
        body = self.suite(node.body, self._header(node, test))
        return If(test, body, self._orelse(node.orelse, body, chained=True))

    def while_(self, node: ast.While) -> While:
        test = self.expression(node.test)
        body = self.suite(node.body, self._header(node, test))
        return While(test, body, self._orelse(node.orelse, body))

    def for_(self, node: Any) -> For:
        target, iterable = self.all([node.target, node.iter])
        body = self.suite(node.body, self._header(node, iterable))
        other = self._orelse(node.orelse, body)
        return For(target, iterable, body, other, isinstance(node, ast.AsyncFor))

    def with_(self, node: Any) -> With:
        items = [
            self.optional(part)
            for i, item in enumerate(node.items)
            for part in (item.context_expr, item.optional_vars)
        ]
        body = self.suite(node.body, self._header(node, *items))
        return With(items, body, isinstance(node, ast.AsyncWith))

    def try_(self, node: Any) -> Try:
        body = self.suite(node.body, self._header(node))
        handlers = [self._handler(h, not isinstance(node, ast.Try)) for h in node.handlers]
        last = handlers[-1].body if handlers else body
        other = self._orelse(node.orelse, last)
        final = self.suite(node.finalbody, (other or last).end) if node.finalbody else None
        return Try(body, handlers, other, final)

    def _handler(self, node: ast.ExceptHandler, group: bool) -> Handler:
        kind = self.optional(node.type)
        body = self.suite(node.body, self._header(node, kind))
        made = Handler(kind, node.name, body, group)
        self.put(made, self._header(node), body.end)
        return made

    def function(self, node: Any) -> Function:
        decorators, parameters = self.all(node.decorator_list), list(self.parameters(node.args))
        returns = self.optional(node.returns)
        body = self.suite(node.body, self._header(node, *parameters, returns))
        word = isinstance(node, ast.AsyncFunctionDef)
        return Function(node.name, parameters, body, decorators, returns, word)

    def class_(self, node: ast.ClassDef) -> Class:
        decorators = self.all(node.decorator_list)
        bases, keywords = self.arguments(node.bases, node.keywords)
        body = self.suite(node.body, self._header(node, *bases))
        return Class(node.name, bases, body, decorators, keywords)

    def augmented(self, node: ast.AugAssign) -> Assign:
        target, value = self.all([node.target, node.value])
        return Assign([target], value, binary_operator(node.op))

    def annotated(self, node: ast.AnnAssign) -> Assign:
        target, annotation = self.all([node.target, node.annotation])
        return Assign([target], self.optional(node.value), annotation=annotation)

    def match(self, node: ast.Match) -> OpaqueStatement:
        inside: list[Node] = [self.expression(node.subject)]
        binds: list[str] = []
        for case in node.cases:
            part: Any
            for part in _below(case.pattern):
                if isinstance(part, ast.expr):
                    inside.append(self.expression(part))
                    inside[-1].enclosed = None  # the parentheses of a pattern
                name = getattr(part, "rest", None) or getattr(part, "name", None)
                binds += [name] if name is not None else []
            guard = self.optional(case.guard)
            inside += [] if guard is None else [guard]
            behind = 0 if self.places is None else self.place(case.pattern)[1]
            inside.append(self.suite(case.body, behind if guard is None else outer_end(guard)))
        return OpaqueStatement("match", inside, binds)


def _below(pattern: ast.AST) -> Iterable[ast.AST]:
    """The patterns in a pattern, and the expressions that they ask for."""
    yield pattern
    if not isinstance(pattern, ast.expr):
        for part in ast.iter_child_nodes(pattern):
            yield from _below(part)


def _imported(names: list[ast.alias]) -> list[Imported]:
    return [Imported(alias.name, alias.asname) for alias in names]


_STATEMENTS: dict[type, Callable[[Lowering, Any], Statement]] = {
    ast.If: Lowering.if_,
    ast.While: Lowering.while_,
    **dict.fromkeys([ast.For, ast.AsyncFor], Lowering.for_),
    **dict.fromkeys([ast.With, ast.AsyncWith], Lowering.with_),
    **dict.fromkeys([ast.Try, ast.TryStar], Lowering.try_),
    **dict.fromkeys([ast.FunctionDef, ast.AsyncFunctionDef], Lowering.function),
    ast.ClassDef: Lowering.class_,
    ast.Assign: lambda self, node: Assign(self.all(node.targets), self.expression(node.value)),
    ast.AugAssign: Lowering.augmented,
    ast.AnnAssign: Lowering.annotated,
    ast.Return: lambda self, node: Return(self.optional(node.value)),
    ast.Raise: lambda self, node: Raise(self.optional(node.exc), self.optional(node.cause)),
    ast.Assert: lambda self, node: Assert(self.expression(node.test), self.optional(node.msg)),
    ast.Delete: lambda self, node: Delete(self.all(node.targets)),
    ast.Expr: lambda self, node: ExpressionStatement(self.expression(node.value)),
    ast.Import: lambda self, node: Import(None, _imported(node.names)),
    ast.ImportFrom: lambda self, node: Import(node.module, _imported(node.names), node.level),
    ast.Global: lambda self, node: Declaration("global", node.names),
    ast.Nonlocal: lambda self, node: Declaration("nonlocal", node.names),
    ast.Match: Lowering.match,
    ast.Pass: lambda self, node: Pass(),
    ast.Break: lambda self, node: Break(),
    ast.Continue: lambda self, node: Continue(),
}
if hasattr(ast, "TypeAlias"):  # of Python 3.12
    _STATEMENTS[ast.TypeAlias] = lambda self, node: OpaqueStatement(
        "type", [self.expression(node.value)], [node.name.id]
    )
