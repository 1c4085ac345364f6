"""From LibCST's tree to the model: every file is lowered once, and the tree is dropped."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

import libcst as cst

from ..model.expressions import Display
from ..model.node import Expression, Node, Statement
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
from .lower_expressions import ExpressionLowering, operator_text
from .parse import parse


def lower(text: str, path: PurePosixPath) -> File:
    """A file as a model. Raises `libcst.ParserSyntaxError` where it is not Python."""
    module = parse(text)
    file = File(path, text, Block())
    lowering = Lowering(module, file)
    file.body = lowering.module(module)
    file.start, file.end, file.file = 0, len(text), file
    file.body.parent = file
    return file


class Lowering(ExpressionLowering):
    """The lowering of one file."""

    def module(self, module: cst.Module) -> Block:
        block = self._block(module.body, "module")
        block.start, block.end, block.indent = 0, len(self.file.text), ""
        return block

    # --- blocks ----------------------------------------------------------------------------------

    def _block(self, statements: Iterable[Any], form: str) -> Block:
        """Statements, of which one line may hold several."""
        made: list[Statement] = []
        for node in statements:
            if node.__class__ is cst.SimpleStatementLine:
                made.extend(map(self.statement, node.body))
            else:
                made.append(self.statement(node))
        block = Block(made, form)
        block.file = self.file
        if made:
            block.start, block.end = made[0].start, made[-1].end
        return block

    def suite(self, node: Any) -> Block:
        """The body of a compound statement."""
        if isinstance(node, cst.SimpleStatementSuite):
            return self._block([cst.SimpleStatementLine(node.body)], "inline")
        block, text = self._block(node.body, "indented"), self.file.text
        block.indent = text[text.rfind("\n", 0, block.start) + 1 : block.start]
        block.start, stop = self.spans.outer[node.header][1], text.find("\n", block.end)
        block.end = len(text) if stop < 0 else stop - (text[stop - 1] == "\r")
        return block

    def _orelse(self, node: cst.Else | cst.If | None) -> Block | None:
        if node is None:
            return None
        if isinstance(node, cst.If):
            block = self._block([node], "elif")
            block.body[0].start += len("el")
            return block
        return self.suite(node.body)

    # --- statements ------------------------------------------------------------------------------

    def statement(self, node: cst.CSTNode) -> Statement:
        made = _STATEMENTS[node.__class__](self, node)
        made.file = self.file
        made.start, made.end = self.spans.of(node)
        blocks = [child for child in made.children() if isinstance(child, (Block, Handler))]
        if blocks:
            made.end = max(block.end for block in blocks)
        if isinstance(made, (Function, Class)) and made.decorators:
            made.start = self.file.text.rindex("@", 0, made.decorators[0].start)
        return made

    def if_(self, node: cst.If) -> If:
        return If(self.expression(node.test), self.suite(node.body), self._orelse(node.orelse))

    def while_(self, node: cst.While) -> While:
        return While(self.expression(node.test), self.suite(node.body), self._orelse(node.orelse))

    def for_(self, node: cst.For) -> For:
        target, iterable = self.expression(node.target), self.expression(node.iter)
        body, orelse = self.suite(node.body), self._orelse(node.orelse)
        return For(target, iterable, body, orelse, node.asynchronous is not None)

    def with_(self, node: cst.With) -> With:
        items: list[Expression | None] = []
        for item in node.items:
            items.append(self.expression(item.item))
            items.append(None if item.asname is None else self.expression(item.asname.name))
        return With(items, self.suite(node.body), node.asynchronous is not None)

    def try_(self, node: cst.Try | cst.TryStar) -> Try:
        body = self.suite(node.body)
        handlers = [self._handler(h) for h in node.handlers]
        final = None if node.finalbody is None else self.suite(node.finalbody.body)
        return Try(body, handlers, self._orelse(node.orelse), final)

    def _handler(self, node: cst.ExceptHandler | cst.ExceptStarHandler) -> Handler:
        kind = None if node.type is None else self.expression(node.type)
        name: Any = None if node.name is None else node.name.name
        group = isinstance(node, cst.ExceptStarHandler)
        made = Handler(kind, getattr(name, "value", None), self.suite(node.body), group)
        made.file = self.file
        made.start, made.end = self.spans.of(node)[0], made.body.end
        return made

    def function(self, node: cst.FunctionDef) -> Function:
        decorators = [self.expression(d.decorator) for d in node.decorators]
        parameters = list(self.parameters(node.params))
        returns = None if node.returns is None else self.expression(node.returns.annotation)
        asynchronous = node.asynchronous is not None
        body = self.suite(node.body)
        return Function(node.name.value, parameters, body, decorators, returns, asynchronous)

    def class_(self, node: cst.ClassDef) -> Class:
        decorators = [self.expression(d.decorator) for d in node.decorators]
        arguments = [*node.bases, *node.keywords]
        bases = [self.argument(a) for a in arguments]
        keywords = [None if a.keyword is None else a.keyword.value for a in arguments]
        return Class(node.name.value, bases, self.suite(node.body), decorators, keywords)

    def assign(self, node: cst.Assign) -> Assign:
        targets = [self.expression(t.target) for t in node.targets]
        return Assign(targets, self.expression(node.value))

    def augmented(self, node: cst.AugAssign) -> Assign:
        operator = operator_text(node.operator).removesuffix("=")
        return Assign([self.expression(node.target)], self.expression(node.value), operator)

    def annotated(self, node: cst.AnnAssign) -> Assign:
        target, annotation = (
            self.expression(node.target),
            self.expression(node.annotation.annotation),
        )
        value = None if node.value is None else self.expression(node.value)
        return Assign([target], value, annotation=annotation)

    def return_(self, node: cst.Return) -> Return:
        return Return(None if node.value is None else self.expression(node.value))

    def raise_(self, node: cst.Raise) -> Raise:
        exception = None if node.exc is None else self.expression(node.exc)
        return Raise(exception, None if node.cause is None else self.expression(node.cause.item))

    def assert_(self, node: cst.Assert) -> Assert:
        test = self.expression(node.test)
        return Assert(test, None if node.msg is None else self.expression(node.msg))

    def delete(self, node: cst.Del) -> Delete:
        target = self.expression(node.target)
        if isinstance(target, Display) and target.kind == "tuple" and target.enclosed is None:
            return Delete(target.elements)
        return Delete([target])

    def expression_statement(self, node: cst.Expr) -> ExpressionStatement:
        return ExpressionStatement(self.expression(node.value))

    def import_(self, node: cst.Import) -> Import:
        return Import(None, map(_imported, node.names))

    def import_from(self, node: cst.ImportFrom) -> Import:
        names = (
            [Imported("*")]
            if isinstance(node.names, cst.ImportStar)
            else map(_imported, node.names)
        )
        module = None if node.module is None else _dotted(node.module)
        return Import(module, names, len(node.relative))

    def declaration(self, node: cst.Global | cst.Nonlocal) -> Declaration:
        word = "global" if isinstance(node, cst.Global) else "nonlocal"
        return Declaration(word, [item.name.value for item in node.names])

    def match(self, node: cst.Match) -> OpaqueStatement:
        inside: list[Node] = [self.expression(node.subject)]
        binds: list[str] = []
        for case in node.cases:
            for part in _below(case.pattern):
                if isinstance(part, cst.MatchValue):
                    inside.append(self.expression(part.value))
                elif isinstance(part, cst.MatchClass):
                    inside.append(self.expression(part.cls))
                name = getattr(part, "rest" if isinstance(part, cst.MatchMapping) else "name", None)
                if isinstance(name, cst.Name):
                    binds.append(name.value)
            if case.guard is not None:
                inside.append(self.expression(case.guard))
            inside.append(self.suite(case.body))
        return OpaqueStatement("match", inside, binds)

    def type_alias(self, node: Any) -> OpaqueStatement:
        return OpaqueStatement("type", [self.expression(node.value)], [node.name.value])


def _below(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        yield from _below(child)


def _imported(alias: cst.ImportAlias) -> Imported:
    name: Any = None if alias.asname is None else alias.asname.name
    return Imported(_dotted(alias.name), None if name is None else name.value)


def _dotted(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    assert isinstance(node, cst.Name)
    return node.value


_STATEMENTS: dict[type, Callable[[Lowering, Any], Statement]] = {
    cst.If: Lowering.if_,
    cst.While: Lowering.while_,
    cst.For: Lowering.for_,
    cst.With: Lowering.with_,
    cst.Try: Lowering.try_,
    cst.TryStar: Lowering.try_,
    cst.FunctionDef: Lowering.function,
    cst.ClassDef: Lowering.class_,
    cst.Assign: Lowering.assign,
    cst.AugAssign: Lowering.augmented,
    cst.AnnAssign: Lowering.annotated,
    cst.Return: Lowering.return_,
    cst.Raise: Lowering.raise_,
    cst.Assert: Lowering.assert_,
    cst.Del: Lowering.delete,
    cst.Expr: Lowering.expression_statement,
    cst.Import: Lowering.import_,
    cst.ImportFrom: Lowering.import_from,
    cst.Global: Lowering.declaration,
    cst.Nonlocal: Lowering.declaration,
    cst.Match: Lowering.match,
    cst.TypeAlias: Lowering.type_alias,
    cst.Pass: lambda self, node: Pass(),
    cst.Break: lambda self, node: Break(),
    cst.Continue: lambda self, node: Continue(),
}
