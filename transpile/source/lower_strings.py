"""From Python's own trees of constants and f-strings to the model."""

from __future__ import annotations

import ast
from typing import Any

from ..model.expressions import Call, Constant, FormattedString, Name
from ..model.node import Expression
from .places import Places


class StringLowering:
    """What lowers constants and f-strings. `places`: of the file that they stand in."""

    def __init__(self, places: Places | None = None) -> None:
        self.places = places

    def expression(self, node: ast.expr) -> Expression:
        raise NotImplementedError

    def place(self, node: Any) -> tuple[int, int]:
        """Where a node of Python's tree begins and ends."""
        assert self.places is not None, "of what stands in a file"
        at = self.places.at
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)

    def constant(self, node: ast.Constant) -> Constant:
        if self.places is None:
            return Constant(node.value)
        return Constant(node.value, self.places.text[slice(*self.place(node))])

    def formatted(self, node: ast.JoinedStr) -> FormattedString:
        """An f-string. In a file, what it inserts stands in its text with its format; else
        `f"{x:.2f}"` is `f"{format(x, '.2f')}"`, since the model has no formats beside their text.
        """
        places = None if self.places is None else self.places.insertions(*self.place(node))
        literals, inside = [""], list[Expression]()
        for part in node.values:
            if isinstance(part, ast.Constant):
                literals[-1] += _inner_text(str(part.value))
            elif places is None:
                inside.append(self._insertion(part))  # type: ignore[arg-type]
                literals.append("")
            else:
                for _ in range(_insertions(part)):
                    inside.append(self._inserted(*places.pop(0)))
                    literals.append("")
        return FormattedString(inside, literals)

    def _inserted(self, start: int, end: int) -> Expression:
        """The expression that stands there in an f-string."""
        assert self.places is not None
        text = f"({self.places.text[start:end]})"
        apart = Places(self.places.file, text, start - 1)
        made = type(self)(apart).expression(ast.parse(text, mode="eval").body)
        if made.enclosed is not None and made.enclosed[0] < start:
            made.enclosed = None  # `{a, b}`
        return made

    def _insertion(self, node: ast.FormattedValue) -> Expression:
        value = self.expression(node.value)
        if node.conversion >= 0:
            value = Call(Name(_CONVERSIONS[chr(node.conversion)]), [value])
        if isinstance(node.format_spec, ast.JoinedStr):
            parts = node.format_spec.values
            plain = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
            whole = len(plain) == len(parts)
            spec = Constant("".join(plain)) if whole else self.formatted(node.format_spec)
            value = Call(Name("format"), [value, spec])
        return value


def _insertions(node: Any) -> int:
    """How many expressions are inserted, those in the format of one included."""
    inside = getattr(node.format_spec, "values", ())
    return 1 + sum(_insertions(n) for n in inside if isinstance(n, ast.FormattedValue))


def _inner_text(text: str) -> str:
    """What stands between the quotes of an f-string for this text."""
    return "".join(_ESCAPES.get(character, character) for character in text)


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "{": "{{", "}": "}}"}
_CONVERSIONS = {"r": "repr", "s": "str", "a": "ascii"}
