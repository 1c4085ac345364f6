"""`print` of traced values: `jax.debug.print`, which prints when the code runs and not when it is traced."""

from __future__ import annotations

from typing import Any

import libcst as cst

from . import tree
from .emit import call


def debug_print(node: cst.Call) -> cst.Call:
    """`print("loss", x)` as `jax.debug.print("loss {}", x)`."""
    words: list[str] = []
    values: list[Any] = []
    for argument in node.args:
        text: Any = argument.value
        if isinstance(text, cst.SimpleString) and isinstance(text.evaluated_value, str) and text.value[0] in "'\"":
            words.append(text.raw_value.replace("{", "{{").replace("}", "}}").replace('"', '\\"'))
        elif isinstance(text, cst.FormattedString) and text.start in ("f'", 'f"') and all(_plain_part(p) for p in text.parts):
            words.append("".join(_format(p) for p in text.parts))
            values.extend(p.expression for p in text.parts if isinstance(p, cst.FormattedStringExpression))
        else:
            words.append("{}")
            values.append(text)
    return call("jax.debug.print", [cst.SimpleString(f'"{" ".join(words)}"'), *values])


def printing(statement: Any) -> Any:
    """A statement of a side of a branch on data, whose prints must wait until the side is taken."""

    def before(node: cst.CSTNode) -> Any:
        plain = isinstance(node, cst.Call) and tree.dotted(node.func) == "print" and node.args and not any(a.star or a.keyword for a in node.args)
        return debug_print(node) if plain else None  # type: ignore[arg-type]

    return tree.rewrite(statement, before, only={cst.Call})


def prints(statement: cst.CSTNode) -> bool:
    """Whether a statement prints when it runs."""
    return any(tree.dotted(n.func) == "jax.debug.print" for n in tree.nodes(statement, cst.Call))


def shown(node: Any) -> list[Any]:
    """The values that an argument of print shows."""
    return [p.expression for p in node.parts if isinstance(p, cst.FormattedStringExpression)] if isinstance(node, cst.FormattedString) else [node]


def _plain_part(part: Any) -> bool:
    return isinstance(part, cst.FormattedStringText) or part.conversion is None and part.equal is None and all(isinstance(p, cst.FormattedStringText) for p in part.format_spec or ())


def _format(part: Any) -> str:
    """A part of an f-string in the format that `jax.debug.print` takes."""
    if isinstance(part, cst.FormattedStringText):
        return part.value.replace('"', '\\"')
    spec = "".join(p.value for p in part.format_spec or ())
    return f"{{:{spec}}}" if spec else "{}"
