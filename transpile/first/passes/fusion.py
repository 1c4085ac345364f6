"""A parameter that is made and then given its values is made with them.

    params["weight"] = jnp.zeros((n, m))
    params["weight"] = 0.02 * jax.random.normal(key, params["weight"].shape, params["weight"].dtype)

becomes `params["weight"] = 0.02 * jax.random.normal(key, (n, m))`. So does a parameter that a function makes and returns:

    weight = nn.Parameter(jnp.zeros((n, m)))
    weight = 0.02 * jax.random.normal(key, weight.shape, weight.dtype)
    return weight
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import KEY, Context

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


def of_locals(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    """Fuse the parameters that a function makes for others; what cannot be is refused, since a parameter is no array there."""
    made: dict[str, int] = {}
    out: list[Any] = []
    for statement in tree.body_statements(node):
        name, value = _named(statement)
        reads = name in made and name in tree.names_read(value)
        fused = None
        if name is not None and reads and not any(name in tree.names_read(s) for s in out[made[name] + 1 :]):
            first = out[made[name]]
            call = first.body[0].value
            fused = _fused(name, value, call.args[0].value, certain=True)
        if name is not None and fused is not None:
            small = tree.replace(first.body[0], value=tree.replace(call, args=[tree.replace(call.args[0], value=fused), *call.args[1:]]))
            out[made[name]] = tree.replace(first, body=[small], leading_lines=[*first.leading_lines, *statement.leading_lines])
            continue
        out.append(tree.rewrite(statement, lambda n: _refused(context, n, made), only={cst.Assign}) if made else statement)
        if name is not None:
            made.pop(name, None)
            if isinstance(value, cst.Call) and tree.dotted(value.func) == "nn.Parameter" and value.args and value.args[0].keyword is None:
                made[name] = len(out) - 1
    return node if tree.same(out, tree.body_statements(node)) else tree.with_body(node, out)


def _named(statement: Any) -> tuple[str | None, Any]:
    """`weight = value`: the name, and the value."""
    small = tree.only_small(statement)
    if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Name):
        return small.targets[0].target.value, small.value
    return None, None


def _refused(context: Context, node: Any, made: dict[str, int]) -> Any:
    """`weight = jnp.zeros_like(weight)` on one way, of a parameter that the function has made."""
    name = node.targets[0].target.value if len(node.targets) == 1 and isinstance(node.targets[0].target, cst.Name) else None
    if name not in made or name not in tree.names_read(node.value):
        return None
    message = f"{name} is a parameter, which gets its values when init is called: make it of them, in one statement on each way"
    return tree.replace(node, value=context.unconverted("module-value", node.value, message))


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


def _fused(place: str, value: Any, made: Any, certain: bool = False) -> Any:
    """The later value with the earlier one put in, or None; `certain`: in any form, as often as it is read."""
    zeros = isinstance(made, cst.Call) and tree.dotted(made.func) in ("jnp.zeros", "jnp.ones") and len(made.args) == 1
    shape = made.args[0].value if zeros else None
    if shape is None:
        sizes = None
    elif isinstance(shape, (cst.Integer, cst.Name, cst.Attribute)):
        sizes = tree.expression(f"({tree.code(shape)},)") if isinstance(shape, cst.Integer) else None
    else:
        sizes = shape
    whole = 0
    failed = False

    def is_place(node: Any) -> bool:
        return isinstance(node, (cst.Subscript, cst.Name)) and tree.code(node) == place

    def before(node: cst.CSTNode) -> Any:
        nonlocal whole, failed
        if isinstance(node, cst.Call):
            like = LIKE.get(tree.dotted(node.func) or "")
            if like is not None and shape is not None and node.args and is_place(node.args[0].value):
                args = [tree.replace(node.args[0], value=shape), *node.args[1:]]
                return tree.replace(node, func=tree.expression(like), args=args)
            kept = [a for a in node.args if not (isinstance(a.value, cst.Attribute) and a.value.attr.value == "dtype" and is_place(a.value.value))]
            if len(kept) != len(node.args) and zeros:
                if not kept:  # `x.astype(weight.dtype)` where the weight is made in the default dtype
                    kept = [cst.Arg(cst.Name("float"))]
                if isinstance(kept[-1].comma, cst.Comma):
                    kept[-1] = tree.replace(kept[-1], comma=cst.MaybeSentinel.DEFAULT)
                return tree.rewrite(tree.replace(node, args=kept), before)
        if isinstance(node, cst.Attribute) and is_place(node.value):
            if node.attr.value == "shape" and sizes is not None:
                return sizes
            failed = True
            return tree.replace(node, value=tree.fit(node, "value", made))
        if isinstance(node, cst.Attribute):
            return tree.replace(node, value=tree.fit(node, "value", tree.rewrite(node.value, before)))
        if isinstance(node, cst.Arg) and node.keyword is not None:
            return tree.replace(node, value=tree.fit(node, "value", tree.rewrite(node.value, before)))
        if is_place(node):
            whole += 1
            return made
        return None

    fused = tree.rewrite(value, before)
    drawn = any(n.value == KEY for n in tree.nodes(made, cst.Name))  # two draws are two values
    return None if whole > 1 and (drawn or not certain) or failed and not certain else fused
