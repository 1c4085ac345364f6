"""From Python's own syntax trees to the model: statements."""

import ast
from collections.abc import Callable, Iterable
from typing import Any

from ..model.node import Expression, Node, Statement
from ..model.program import Class, Function
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
from .lower_ast import (
    binary_operator,
    lower_arguments,
    lower_expression,
    lower_parameters,
    optional,
)


def lower_statements(nodes: Iterable[ast.stmt]) -> list[Statement]:
    return [_STATEMENTS[node.__class__](node) for node in nodes]


def _block(nodes: list[ast.stmt]) -> Block:
    return Block(lower_statements(nodes))


def _orelse(nodes: list[ast.stmt], chained: bool = False) -> Block | None:
    """What stands behind `else:`; one `if` alone is an `elif`."""
    if not nodes:
        return None
    form = "elif" if chained and len(nodes) == 1 and isinstance(nodes[0], ast.If) else "indented"
    return Block(lower_statements(nodes), form)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    decorators = map(lower_expression, node.decorator_list)
    parameters, body = lower_parameters(node.args), _block(node.body)
    asynchronous = isinstance(node, ast.AsyncFunctionDef)
    return Function(node.name, parameters, body, decorators, optional(node.returns), asynchronous)


def _class(node: ast.ClassDef) -> Class:
    bases, keywords = lower_arguments(node.bases, node.keywords)
    decorators = map(lower_expression, node.decorator_list)
    return Class(node.name, bases, _block(node.body), decorators, keywords)


def _assign(node: ast.Assign) -> Assign:
    return Assign(map(lower_expression, node.targets), lower_expression(node.value))


def _augmented(node: ast.AugAssign) -> Assign:
    value = lower_expression(node.value)
    return Assign([lower_expression(node.target)], value, binary_operator(node.op))


def _annotated(node: ast.AnnAssign) -> Assign:
    target, annotation = lower_expression(node.target), lower_expression(node.annotation)
    return Assign([target], optional(node.value), annotation=annotation)


def _if(node: ast.If) -> If:
    return If(lower_expression(node.test), _block(node.body), _orelse(node.orelse, chained=True))


def _while(node: ast.While) -> While:
    return While(lower_expression(node.test), _block(node.body), _orelse(node.orelse))


def _for(node: ast.For | ast.AsyncFor) -> For:
    target, iterable = lower_expression(node.target), lower_expression(node.iter)
    asynchronous = isinstance(node, ast.AsyncFor)
    return For(target, iterable, _block(node.body), _orelse(node.orelse), asynchronous)


def _with(node: ast.With | ast.AsyncWith) -> With:
    items: list[Expression | None] = []
    for item in node.items:
        items += [lower_expression(item.context_expr), optional(item.optional_vars)]
    return With(items, _block(node.body), isinstance(node, ast.AsyncWith))


def _try(node: Any) -> Try:
    group = not isinstance(node, ast.Try)
    handlers = [
        Handler(optional(handler.type), handler.name, _block(handler.body), group)
        for handler in node.handlers
    ]
    return Try(_block(node.body), handlers, _orelse(node.orelse), _orelse(node.finalbody))


def _import_from(node: ast.ImportFrom) -> Import:
    return Import(node.module, map(_imported, node.names), node.level)


def _imported(alias: ast.alias) -> Imported:
    return Imported(alias.name, alias.asname)


def _match(node: ast.Match) -> OpaqueStatement:
    inside: list[Node] = [lower_expression(node.subject)]
    binds: list[str] = []
    for case in node.cases:
        for part in ast.walk(case.pattern):
            if isinstance(part, ast.MatchValue):
                inside.append(lower_expression(part.value))
            elif isinstance(part, ast.MatchClass):
                inside.append(lower_expression(part.cls))
            name = getattr(part, "rest" if isinstance(part, ast.MatchMapping) else "name", None)
            binds += [name] if name is not None else []
        inside += [lower_expression(case.guard)] if case.guard is not None else []
        inside.append(_block(case.body))
    return OpaqueStatement("match", inside, binds)


def _type_alias(node: Any) -> OpaqueStatement:
    return OpaqueStatement("type", [lower_expression(node.value)], [node.name.id])


_STATEMENTS: dict[type, Callable[[Any], Statement]] = {
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Assign: _assign,
    ast.AugAssign: _augmented,
    ast.AnnAssign: _annotated,
    ast.Expr: lambda node: ExpressionStatement(lower_expression(node.value)),
    ast.Return: lambda node: Return(optional(node.value)),
    ast.Raise: lambda node: Raise(optional(node.exc), optional(node.cause)),
    ast.Assert: lambda node: Assert(lower_expression(node.test), optional(node.msg)),
    ast.Delete: lambda node: Delete(map(lower_expression, node.targets)),
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.Import: lambda node: Import(None, map(_imported, node.names)),
    ast.ImportFrom: _import_from,
    ast.Global: lambda node: Declaration("global", node.names),
    ast.Nonlocal: lambda node: Declaration("nonlocal", node.names),
    ast.Match: _match,
    ast.Pass: lambda node: Pass(),
    ast.Break: lambda node: Break(),
    ast.Continue: lambda node: Continue(),
}
if hasattr(ast, "TypeAlias"):  # from Python 3.12 on
    _STATEMENTS[ast.TypeAlias] = _type_alias
