"""From LibCST's strings, also several in a row and f-strings, to the model's."""

import ast
from collections.abc import Iterable, Iterator
from typing import Any

import libcst as cst

from ..model.expressions import Constant, FormattedString
from ..model.node import Expression
from ..model.program import File
from .spans import Spans


class StringLowering:
    """What lowers strings; insertions are expressions like any others."""

    def __init__(self, module: cst.Module, file: File) -> None:
        self.file, self.spans = file, Spans(module)

    def expression(self, node: cst.CSTNode) -> Expression:
        raise NotImplementedError

    def string(self, node: cst.SimpleString) -> Constant:
        text = node.value
        if text[0] in "'\"" and "\\" not in text and text[:3] not in ("'''", '"""'):
            return Constant(text[1:-1], text)
        return Constant(ast.literal_eval(text), text)

    def strings(self, node: cst.ConcatenatedString) -> Expression:
        parts = list(_strings(node))
        if all(isinstance(part, cst.SimpleString) for part in parts):
            values = [ast.literal_eval(part.value) for part in parts]
            whole = values[0][:0].join(values)
            return Constant(whole, self.file.text[slice(*self.spans.of(node))])
        literals: list[str] = [""]
        inside: list[Expression] = []
        for part in parts:
            if isinstance(part, cst.SimpleString):
                literals[-1] += str(ast.literal_eval(part.value))
            else:
                self._formatted(part.parts, literals, inside)
        return FormattedString(inside, literals)

    def formatted(self, node: Any) -> FormattedString:
        literals: list[str] = [""]
        inside: list[Expression] = []
        self._formatted(node.parts, literals, inside)
        return FormattedString(inside, literals)

    def _formatted(
        self, parts: Iterable[Any], literals: list[str], inside: list[Expression]
    ) -> None:
        """The insertions of an f-string, those of their formats included, and the text between
        them."""
        for part in parts:
            if not hasattr(part, "expression"):
                literals[-1] += part.value
                continue
            inside.append(self.expression(part.expression))
            literals.append("")
            if part.format_spec:
                self._formatted(part.format_spec, [""], inside)
                literals.extend([""] * (len(inside) + 1 - len(literals)))


def _strings(node: Any) -> Iterator[Any]:
    """The strings that stand in a row."""
    while isinstance(node, cst.ConcatenatedString):
        yield node.left
        node = node.right
    yield node
