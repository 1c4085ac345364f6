"""A parameter that is made and then given its values is made with them.

    params["weight"] = jnp.zeros((n, m))
    params["weight"] = 0.02 * jax.random.normal(key, params["weight"].shape, params["weight"].dtype)

becomes `params["weight"] = 0.02 * jax.random.normal(key, (n, m))`.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree

LIKE = {"jnp.zeros_like": "jnp.zeros", "jnp.ones_like": "jnp.ones", "jnp.full_like": "jnp.full", "jnp.empty_like": "jnp.empty"}


def run(statements: list[Any]) -> list[Any]:
    """Fuse the statements of an `init`."""
    out: list[Any] = []
    for statement in statements:
        place, value = _stored(statement)
        earlier = _made(out, place) if place is not None else None
        if earlier is not None and place is not None:
            fused = _fused(place, value, out[earlier].body[0].value)
            if fused is not None:
                first = out.pop(earlier)
                small = tree.replace(statement.body[0], value=fused)
                leading = [*first.leading_lines, *statement.leading_lines]
                statement = tree.replace(statement, body=[small], leading_lines=leading)
        out.append(statement)
    return out


def _stored(statement: Any) -> tuple[str | None, Any]:
    """`params["name"] = value`: the place as text, and the value."""
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        small = statement.body[0]
        if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Subscript):
            return tree.code(small.targets[0].target), small.value
    return None, None


def _made(statements: list[Any], place: str | None) -> int | None:
    """The statement that makes the array with zeros or ones, if nothing since has touched it."""
    for i in range(len(statements) - 1, -1, -1):
        stored, value = _stored(statements[i])
        if stored == place:
            made = isinstance(value, cst.Call) and tree.dotted(value.func) in ("jnp.zeros", "jnp.ones") and len(value.args) == 1
            return i if made else None
        text = tree.code(statements[i])
        if place is None or place in text or "params)" in text or "(params" in text:
            return None
    return None


def _fused(place: str, value: Any, made: cst.Call) -> Any:
    """The later value with the earlier one put in, or None."""
    shape = made.args[0].value
    if isinstance(shape, (cst.Integer, cst.Name, cst.Attribute)):
        sizes = tree.expression(f"({tree.code(shape)},)") if isinstance(shape, cst.Integer) else None
    else:
        sizes = shape
    whole = 0
    failed = False

    def is_place(node: Any) -> bool:
        return isinstance(node, cst.Subscript) and tree.code(node) == place

    def before(node: cst.CSTNode) -> Any:
        nonlocal whole, failed
        if isinstance(node, cst.Call):
            like = LIKE.get(tree.dotted(node.func) or "")
            if like is not None and node.args and is_place(node.args[0].value):
                args = [tree.replace(node.args[0], value=shape), *node.args[1:]]
                return tree.replace(node, func=tree.expression(like), args=args)
            kept = [a for a in node.args if not (isinstance(a.value, cst.Attribute) and a.value.attr.value == "dtype" and is_place(a.value.value))]
            if len(kept) != len(node.args):
                if kept and isinstance(kept[-1].comma, cst.Comma):
                    kept[-1] = tree.replace(kept[-1], comma=cst.MaybeSentinel.DEFAULT)
                return tree.rewrite(tree.replace(node, args=kept), before)
        if isinstance(node, cst.Attribute) and is_place(node.value):
            if node.attr.value == "shape" and sizes is not None:
                return sizes
            failed = True
            return node
        if is_place(node):
            whole += 1
            return made
        return None

    fused = tree.rewrite(value, before)
    return None if failed or whole > 1 else fused
