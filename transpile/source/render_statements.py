"""The text of statements that have none of the user's. Blocks are indented by four spaces below
their statement."""

from collections.abc import Callable
from typing import Any, Protocol

from ..model.node import Node
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
    Pass,
    Raise,
    Return,
    Try,
    While,
    With,
)
from . import render


class Writer(render.Writer, Protocol):
    """What gives the text of parts, and of blocks."""

    def lines(self, block: Block, indent: str) -> str:
        """The lines of a block at an indentation, without the last line break."""


INDENT = "    "


def _suite(writer: Writer, header: str, block: Block) -> str:
    return f"{header}:\n{writer.lines(block, INDENT)}"


def _assign(writer: Writer, node: Assign) -> str:
    targets = " = ".join(writer.part(node, t) for t in node.targets)
    if node.annotation is not None:
        targets += ": " + writer.part(node, node.annotation)
    if node.expression is None:
        return targets
    return f"{targets} {node.operator}= {writer.part(node, node.expression)}"


def _words(word: str, *fields: str) -> Callable[[Writer, Any], str]:
    """`return value`, `raise error from cause`, `assert test, message`."""
    joints = {"cause": " from ", "message": ", "}

    def text(writer: Writer, node: Any) -> str:
        made = word
        for field in fields:
            part = getattr(node, field)
            if part is not None:
                made += joints.get(field, " ") + writer.part(node, part)
        return made

    return text


def _delete(writer: Writer, node: Delete) -> str:
    return "del " + ", ".join(writer.part(node, t) for t in node.targets)


def _orelse(writer: Writer, block: Block | None) -> str:
    if block is None:
        return ""
    if block.form == "elif" and len(block.body) == 1 and isinstance(block.body[0], If):
        return "\nel" + writer.lines(block, "")
    return "\n" + _suite(writer, "else", block)


def _if(writer: Writer, node: If | While) -> str:
    word = "if" if isinstance(node, If) else "while"
    head = _suite(writer, f"{word} {writer.part(node, node.test)}", node.body)
    return head + _orelse(writer, node.orelse)


def _for(writer: Writer, node: For) -> str:
    word = "async for" if node.asynchronous else "for"
    header = f"{word} {writer.part(node, node.target)} in {writer.part(node, node.iterable)}"
    return _suite(writer, header, node.body) + _orelse(writer, node.orelse)


def _with(writer: Writer, node: With) -> str:
    texts = []
    for context, target in node.pairs:
        text = writer.part(node, context)
        texts.append(text if target is None else f"{text} as {writer.part(node, target)}")
    word = "async with" if node.asynchronous else "with"
    return _suite(writer, f"{word} {', '.join(texts)}", node.body)


def _try(writer: Writer, node: Try) -> str:
    texts = [_suite(writer, "try", node.body)]
    texts += [writer.part(node, handler) for handler in node.handlers]
    if node.orelse is not None:
        texts.append(_suite(writer, "else", node.orelse))
    if node.final is not None:
        texts.append(_suite(writer, "finally", node.final))
    return "\n".join(texts)


def _handler(writer: Writer, node: Handler) -> str:
    header = "except*" if node.group else "except"
    if node.type is not None:
        header += " " + writer.part(node, node.type)
    if node.name is not None:
        header += f" as {node.name}"
    return _suite(writer, header, node.body)


def _imported(name: Imported) -> str:
    return name.name if name.alias is None else f"{name.name} as {name.alias}"


def _import(writer: Writer, node: Import) -> str:
    names = ", ".join(map(_imported, node.names))
    if node.module is None and not node.level:
        return f"import {names}"
    return f"from {'.' * node.level}{node.module or ''} import {names}"


def _function(writer: Writer, node: Function) -> str:
    decorators = "".join(f"@{writer.part(node, d)}\n" for d in node.decorators)
    returns = "" if node.returns is None else f" -> {writer.part(node, node.returns)}"
    word = "async def" if node.asynchronous else "def"
    header = f"{word} {node.name}({render.parameters(writer, node.parameters)}){returns}"
    return decorators + _suite(writer, header, node.body)


def _class(writer: Writer, node: Class) -> str:
    decorators = "".join(f"@{writer.part(node, d)}\n" for d in node.decorators)
    bases = render.arguments(writer, node, node.bases)
    return decorators + _suite(
        writer, f"class {node.name}" + (f"({bases})" if bases else ""), node.body
    )


STATEMENTS: dict[type[Node], Callable[[Writer, Any], str]] = {
    Assign: _assign,
    ExpressionStatement: lambda writer, node: writer.part(node, node.expression),
    Return: _words("return", "expression"),
    Raise: _words("raise", "exception", "cause"),
    Assert: _words("assert", "test", "message"),
    Pass: lambda writer, node: "pass",
    Break: lambda writer, node: "break",
    Continue: lambda writer, node: "continue",
    Delete: _delete,
    If: _if,
    While: _if,
    For: _for,
    With: _with,
    Try: _try,
    Handler: _handler,
    Import: _import,
    Declaration: lambda writer, node: f"{node.word} {', '.join(node.names)}",
    Function: _function,
    Class: _class,
}
