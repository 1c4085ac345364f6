"""What code says of traced values: `jax.debug.print` and `jax.debug.callback` do so when it runs, and not when it is traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from . import tree
from .dataflow import reads
from .emit import call

SAYS = ("jax.debug.print", "jax.debug.callback")
_LEVELS = frozenset("debug info warning warn error critical log exception warning_once".split())


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


def printing(statement: Any, traced: Callable[[str], bool]) -> Any:
    """A statement of a side of a branch on data, whose prints and warnings must wait until the side is taken."""

    def before(node: cst.CSTNode) -> Any:
        if isinstance(node, cst.Expr) and _logs(node.value):
            return tree.replace(node, value=_callback(node.value, traced))
        plain = isinstance(node, cst.Call) and tree.dotted(node.func) == "print" and node.args and not any(a.star or a.keyword for a in node.args)
        return debug_print(node) if plain else None  # type: ignore[arg-type]

    return tree.rewrite(statement, before, only={cst.Call, cst.Expr})


def prints(statement: cst.CSTNode) -> bool:
    """Whether a statement prints or warns when it runs."""
    return any(tree.dotted(n.func) in SAYS for n in tree.nodes(statement, cst.Call))


def _logs(node: Any) -> bool:
    """`logger.warning("…")`, `warnings.warn("…")`"""
    name = tree.dotted(node.func) if isinstance(node, cst.Call) else None
    head, _, last = (name or "").rpartition(".")
    return last in _LEVELS and any(word in head.lower() for word in ("log", "warnings")) or name == "warn"


def _callback(node: Any, traced: Callable[[str], bool]) -> cst.Call:
    """`logger.warning(f"{x}")` as `jax.debug.callback(lambda x: logger.warning(f"{x}"), x)`."""
    operands = [name for name in reads(node) if traced(name)]
    function = tree.replace(tree.expression(f"lambda {', '.join(operands)}: 0" if operands else "lambda: 0"), body=node)
    return call("jax.debug.callback", [function, *map(cst.Name, operands)])


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
