"""`print("loss", x)` of what data tell is `jax.debug.print("loss {}", x)`: it says so when it
runs, and not when it is traced."""

import ast
import re

from ...model.expressions import Attribute, Call, Constant, Display, FormattedString, Starred
from ...model.names import dotted
from ...model.node import Expression
from ...model.operators import Binary
from ...model.statements import Raise
from ...source.lower_ast import expression
from ..truth import traced
from .operators import Operators

_DIGITS = (
    "a text with the digits of a tensor's value, which jax.jit does not know: print it where it is "
    "made, or return the value"
)
# `%d`, `%5.2f`, `%%`: of tensors JAX prints whole numbers and texts as they are.
_PERCENT = re.compile(r"%(?:([-+ 0]*)(\d*)(\.\d+)?([disfeg])|%)")


def shown(node: Expression) -> list[Expression]:
    """The values that an argument of print shows."""
    said = _said(node)
    return [node] if said is None else said[1]


def printed(o: Operators, node: Call) -> None:
    """A print by `jax.debug.print`; one that goes elsewhere, to a file, is reported."""
    if any(word is not None for word in node.keywords) or any(
        isinstance(argument, Starred) for argument in node.arguments
    ):
        message = (
            "a print of tensors with options is left to Python: under jax.jit it shows tracers"
        )
        o.changes.report("traced-branch", node, message)
        return
    o.changes.replace(node, _debug_print)


def formatted(o: Operators, node: Expression) -> None:
    """`f"{loss:.3f}"` that is not printed at once: Python asks a tracer for its digits."""
    said = None if isinstance(node, Binary) and node.operator != "%" else _said(node)
    if said is None or "{:" not in said[0] or not any(map(traced, said[1])):
        return
    inside = [n for n in node.ancestors() if isinstance(n, (Raise, Call))]
    if not any(isinstance(n, Raise) or dotted(n.function) == "print" for n in inside):
        o.changes.unconverted("unsupported", node, _DIGITS)


def _debug_print(node: Call) -> Expression:
    words: list[str] = []
    values: list[Expression] = []
    for argument in node.arguments:
        form, inserted = _said(argument) or ("{}", [argument])
        words.append(form)
        values += inserted
    return Call(expression("jax.debug.print"), [Constant(" ".join(words)), *values])


def _said(node: Expression) -> tuple[str, list[Expression]] | None:
    """A text in the format that `jax.debug.print` takes, and what stands in its places."""
    text = node.constant if isinstance(node, Constant) else None
    if isinstance(text, str):
        return _plain(text), []
    if isinstance(node, FormattedString):
        form = _form(node)
        return None if form is None else (form, list(node.insertions))
    if isinstance(node, Binary):
        if node.operator == "+":
            left, right = _said(node.left), _said(node.right)
            return (left[0] + right[0], left[1] + right[1]) if left and right else None
        literal = getattr(node.left, "constant", None)
        return _percent(literal, node.right) if node.operator == "%" else None
    return _called(node) if isinstance(node, Call) else None


def _called(node: Call) -> tuple[str, list[Expression]] | None:
    """`"loss {:.3f}".format(loss)`, `str(loss)`"""
    if any(node.keywords) or any(isinstance(a, Starred) for a in node.arguments):
        return None
    if dotted(node.function) == "str" and len(node.arguments) == 1:
        return "{}", list(node.arguments)
    function = node.function
    if not isinstance(function, Attribute) or function.name != "format":
        return None
    literal = getattr(function.object, "constant", None)
    return (literal, list(node.arguments)) if isinstance(literal, str) else None


def _percent(text: object, given: Expression) -> tuple[str, list[Expression]] | None:
    """`"%d of %.2f" % (n, x)`; None where there is more to it."""
    if not isinstance(text, str):
        return None
    several = isinstance(given, Display) and given.kind == "tuple"
    values = given.elements if isinstance(given, Display) and several else [given]
    form, end, count = "", 0, 0
    for found in _PERCENT.finditer(text):
        form += _plain(text[end : found.start()])
        end = found.end()
        _, width, places, kind = found.groups()
        if kind is None:
            form += "%"
            continue
        count += 1
        number = f"{width}{places or '.6'}{kind}" if kind in "feg" else ""
        form += f"{{:{number}}}" if number else "{}"
    form += _plain(text[end:])
    left = text.count("%") != sum(m.group().count("%") for m in _PERCENT.finditer(text))
    starred = any(isinstance(v, Starred) for v in values)
    return None if left or starred or count != len(values) else (form, list(values))


def _plain(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _form(node: Expression) -> str | None:
    """An f-string in the format that `jax.debug.print` takes; None for `{x!r}`, `{x:{n}}`."""
    origin = node.origin if isinstance(node, FormattedString) else None
    if origin is None:
        return None
    try:
        parsed = ast.parse(origin.text.strip(), mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(parsed, ast.JoinedStr):
        return None
    form = ""
    for part in parsed.values:
        if isinstance(part, ast.Constant):
            form += _plain(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        spec = part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else []
        if part.conversion != -1 or not all(isinstance(s, ast.Constant) for s in spec):
            return None
        text = "".join(str(s.value) for s in spec if isinstance(s, ast.Constant))
        form += f"{{:{text}}}" if text else "{}"
    return form
