"""The text of nodes that have none of the user's: rendered from their parts."""

from collections.abc import Callable
from typing import Any, Protocol

from ..model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Display,
    ForClause,
    FormattedString,
    Lambda,
    Name,
    NamedExpression,
    OpaqueExpression,
    Slice,
    Starred,
    Subscript,
)
from ..model.node import Node
from ..model.operators import Binary, Boolean, Compare, Conditional, Unary
from ..model.program import Parameter


class Writer(Protocol):
    """What gives the text of the parts of a node."""

    def part(self, parent: Node, child: Any) -> str:
        """A part, in parentheses where its place asks for them."""


def arguments(writer: Writer, node: Call | Any, values: list[Any]) -> str:
    """The arguments of a call, or the bases of a class."""
    texts = []
    for word, value in zip(node.keywords, values):
        text = writer.part(node, value)
        texts.append(text if word is None else f"{word}={text}")
    return ", ".join(texts)


def parameters(writer: Writer, nodes: list[Parameter]) -> str:
    """The parameters of a function, with the marks between their kinds."""
    texts: list[str] = []
    for i, node in enumerate(nodes):
        before = nodes[i - 1].kind if i else ""
        if before == "/" and node.kind != "/":
            texts.append("/")
        if node.kind == "=" and before not in ("=", "*"):
            texts.append("*")
        texts.append(parameter(writer, node))
    if nodes and nodes[-1].kind == "/":
        texts.append("/")
    return ", ".join(texts)


def parameter(writer: Writer, node: Parameter) -> str:
    text = (node.kind if node.kind in ("*", "**") else "") + node.name
    if node.annotation is not None:
        text += ": " + writer.part(node, node.annotation)
    if node.default is not None:
        text += (" = " if node.annotation is not None else "=") + writer.part(node, node.default)
    return text


def _constant(writer: Writer, node: Constant) -> str:
    if node.text is not None:
        return node.text
    if node.constant is ...:
        return "..."
    if isinstance(node.constant, str) and '"' not in node.constant:
        text = repr(node.constant)
        return text if text[0] == '"' else '"' + text[1:-1] + '"'
    return repr(node.constant)


def _subscript(writer: Writer, node: Subscript) -> str:
    return f"{writer.part(node, node.object)}[{writer.part(node, node.index)}]"


def _slice(writer: Writer, node: Slice) -> str:
    lower, upper, step = (
        "" if p is None else writer.part(node, p) for p in (node.lower, node.upper, node.step)
    )
    plain = all(
        p is None or isinstance(p, (Name, Constant, Attribute, Unary))
        for p in (node.lower, node.upper)
    )
    text = f"{lower}:{upper}" if plain else f"{lower} : {upper}".strip()
    return f"{text}:{step}" if step else text


def _call(writer: Writer, node: Call) -> str:
    return f"{writer.part(node, node.function)}({arguments(writer, node, node.arguments)})"


def _unary(writer: Writer, node: Unary) -> str:
    space = " " if node.operator == "not" else ""
    return node.operator + space + writer.part(node, node.operand)


def _binary(writer: Writer, node: Binary | Boolean) -> str:
    left, right = writer.part(node, node.left), writer.part(node, node.right)
    tight = node.operator == "**" and all(
        isinstance(n, (Name, Constant, Attribute)) for n in (node.left, node.right)
    )
    return f"{left}**{right}" if tight else f"{left} {node.operator} {right}"


def _compare(writer: Writer, node: Compare) -> str:
    text = writer.part(node, node.operands[0])
    for operator, operand in zip(node.operators, node.operands[1:]):
        text += f" {operator} {writer.part(node, operand)}"
    return text


def _conditional(writer: Writer, node: Conditional) -> str:
    body, test, orelse = (writer.part(node, p) for p in (node.body, node.test, node.orelse))
    return f"{body} if {test} else {orelse}"


def _display(writer: Writer, node: Display) -> str:
    texts = [writer.part(node, e) for e in node.elements]
    if node.kind == "tuple":
        return f"{texts[0]}," if len(texts) == 1 else ", ".join(texts)
    left, right = "[]" if node.kind == "list" else "{}"
    return left + ", ".join(texts) + right


def _dictionary(writer: Writer, node: Dictionary) -> str:
    texts = []
    for key, value in node.pairs:
        text = writer.part(node, value)
        texts.append(f"**{text}" if key is None else f"{writer.part(node, key)}: {text}")
    return "{" + ", ".join(texts) + "}"


def _comprehension(writer: Writer, node: Comprehension) -> str:
    key = "" if node.key is None else writer.part(node, node.key) + ": "
    clauses = " ".join(writer.part(node, c) for c in node.clauses)
    text = f"{key}{writer.part(node, node.element)} {clauses}"
    if node.kind == "generator":
        return text
    left, right = "[]" if node.kind == "list" else "{}"
    return left + text + right


def _clause(writer: Writer, node: ForClause) -> str:
    word = "async for" if node.asynchronous else "for"
    text = f"{word} {writer.part(node, node.target)} in {writer.part(node, node.iterable)}"
    return text + "".join(f" if {writer.part(node, c)}" for c in node.conditions)


def _lambda(writer: Writer, node: Lambda) -> str:
    head = parameters(writer, node.parameters)
    return f"lambda{' ' if head else ''}{head}: {writer.part(node, node.body)}"


def _formatted(writer: Writer, node: FormattedString) -> str:
    text = node.literals[0]
    for inside, literal in zip(node.insertions, node.literals[1:]):
        text += "{" + writer.part(node, inside).replace('"', "'") + "}" + literal
    return f'f"{text}"'


def _opaque(writer: Writer, node: OpaqueExpression) -> str:
    return " ".join([node.word, *(writer.part(node, e) for e in node.inside)])


EXPRESSIONS: dict[type[Node], Callable[[Writer, Any], str]] = {
    Name: lambda writer, node: node.id,
    Constant: _constant,
    Attribute: lambda writer, node: f"{writer.part(node, node.object)}.{node.name}",
    Subscript: _subscript,
    Slice: _slice,
    Call: _call,
    Starred: lambda writer, node: (
        ("**" if node.double else "*") + writer.part(node, node.expression)
    ),
    Unary: _unary,
    Binary: _binary,
    Boolean: _binary,
    Compare: _compare,
    Conditional: _conditional,
    Display: _display,
    Dictionary: _dictionary,
    Comprehension: _comprehension,
    ForClause: _clause,
    Lambda: _lambda,
    NamedExpression: lambda writer, node: (
        f"{node.target.id} := {writer.part(node, node.expression)}"
    ),
    FormattedString: _formatted,
    OpaqueExpression: _opaque,
    Parameter: parameter,
}
