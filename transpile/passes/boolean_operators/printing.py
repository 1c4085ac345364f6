"""`print("loss", x)` of what data tell is `jax.debug.print("loss {}", x)`: it says so when it
runs, and not when it is traced."""

import ast

from ...model.expressions import Call, Constant, FormattedString, Starred
from ...model.node import Expression
from ...source.lower_ast import expression
from .operators import Operators


def shown(node: Expression) -> list[Expression]:
    """The values that an argument of print shows."""
    return node.insertions if isinstance(node, FormattedString) else [node]


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


def _debug_print(node: Call) -> Expression:
    words: list[str] = []
    values: list[Expression] = []
    for argument in node.arguments:
        form = _form(argument)
        if isinstance(argument, Constant) and isinstance(argument.constant, str):
            words.append(argument.constant.replace("{", "{{").replace("}", "}}"))
        elif form is not None and isinstance(argument, FormattedString):
            words.append(form)
            values += argument.insertions
        else:
            words.append("{}")
            values.append(argument)
    return Call(expression("jax.debug.print"), [Constant(" ".join(words)), *values])


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
            form += str(part.value).replace("{", "{{").replace("}", "}}")
            continue
        assert isinstance(part, ast.FormattedValue)
        spec = part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else []
        if part.conversion != -1 or not all(isinstance(s, ast.Constant) for s in spec):
            return None
        text = "".join(str(s.value) for s in spec if isinstance(s, ast.Constant))
        form += f"{{:{text}}}" if text else "{}"
    return form
