"""Masks that sizes alone tell are NumPy's, known when a function is traced, so that they can choose.

    mask = torch.eye(n).bool()                   mask = np.eye(n).astype(bool)
    return x[~mask].view(n, -1)          ->      return x[~mask].reshape(n, -1)

What NumPy has no word for, or would round otherwise, is computed at once, `with jax.ensure_compile_time_eval()`, and handed on
as NumPy's; so is a constant of a module, which is a property. A mask that follows from an array, a param, state or a draw
stays what it is, and its report stays too.
"""

from __future__ import annotations

import functools
from collections.abc import Set
from typing import Any

import libcst as cst

from .. import tree
from ..arrays import Arrays
from ..context import Context
from ..effects import Effects
from ..known import SAME, TYPES, How, Known, Properties
from ..project import FunctionInfo
from ..values import Tensor

_SELECT = "nn.masked_select"
_CHOOSING = frozenset({"jnp.nonzero", "jnp.argwhere", _SELECT})


def run(context: Context, info: FunctionInfo, effects: Effects, arrays: Arrays, properties: Properties) -> cst.FunctionDef:
    """A function that is traced, with the masks that sizes tell known; the properties that they come from are rewritten."""
    constants = {name for c in (info.owner.family() if info.owner is not None else ()) for name in properties.get(c, ())}
    uses = [n for n in tree.nodes(info.node.body, cst.Subscript, cst.Call) if _may_choose(context, n, constants)]
    if not uses or context.module.imports.get("np", "numpy") != "numpy":
        return info.node
    known = Known(context, info, effects, arrays, properties)
    chosen = [(use, masks) for use in uses if (masks := _masks(known, use))]
    if not chosen:
        return info.node
    places = {context.place(use) for use, _ in chosen}
    context.diagnostics = [d for d in context.diagnostics if d.id != "data-dependent-shape" or (d.line, d.column) not in places]
    return _rewritten(known, [mask for _, masks in chosen for mask in masks])


def _may_choose(context: Context, use: Any, constants: Set[str]) -> bool:
    """Whether this is `x[mask]`, also by a constant of self, or `jnp.nonzero(mask)`."""
    if isinstance(use, cst.Call):
        return tree.dotted(use.func) in _CHOOSING
    values = [context.value(e.slice.value) for e in use.slice if isinstance(e.slice, cst.Index)]
    named = constants and any(n.attr.value in constants for e in use.slice for n in tree.nodes(e, cst.Attribute))
    return bool(named) or any(isinstance(v, Tensor) and v.kind == "b" for v in values)


def _masks(known: Known, use: Any) -> list[Any]:
    """What chooses in `x[mask]` or `jnp.nonzero(mask)`, where NumPy has it all; nothing where it has not."""
    if isinstance(use, cst.Subscript):
        found = [e.slice.value for e in use.slice if isinstance(e.slice, cst.Index) and _is_mask(known, e.slice.value)]
    else:
        found = [a.value for a in use.args[1:]] if tree.dotted(use.func) == _SELECT else [use]
    plain = all(known.how(n) == How.SAME for n in found) and not any(map(known.is_for_jax, known.needed(found)))
    return found if plain else []


def _is_mask(known: Known, node: Any) -> bool:
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.BitInvert):
        return _is_mask(known, node.expression)
    constant, value = known.constant(node), known.context.value(node)
    if constant is not None:
        value = known.context.value(known.returned(constant))
    return isinstance(value, Tensor) and value.kind == "b"


def _rewritten(known: Known, masks: list[Any]) -> cst.FunctionDef:
    """The function with what these masks follow from as NumPy has it."""
    values = [value for name in known.needed(masks) for value in known.bound[name]]
    plain = {id(n) for n in [*masks, *values] if known.how(n) == How.SAME}
    at_once = {id(n) for n in values if known.how(n) == How.AT_ONCE}
    _rewrite_properties(known, [*masks, *values])

    def before(node: Any) -> Any:
        if id(node) in plain:
            return _of_numpy(node)
        small = tree.only_small(node)
        if isinstance(small, cst.Assign) and id(small.value) in at_once:
            return _at_once(tree.replace(node, body=[tree.replace(small, value=_as_array(small.value))]))
        return None

    return tree.rewrite(known.info.node, before)  # type: ignore[no-any-return]


def _rewrite_properties(known: Known, nodes: list[Any]) -> None:
    """Let the properties that these read give NumPy's arrays."""
    for cls, name in {found for part in nodes for n in tree.nodes(part, cst.Attribute) if (found := known.constant(n)) is not None}:
        made, value = known.properties[cls][name], known.returned((cls, name))
        if isinstance(made[0], cst.With) or any(n.value == "np" for n in tree.nodes(value, cst.Name)):
            continue  # by another method that chooses by it
        line = functools.partial(tree.replace, made[-1])
        if len(made) == 1 and known.how(value) == How.SAME:
            known.properties[cls][name] = [line(body=[cst.Return(_of_numpy(value))])]
            _rewrite_properties(known, [value])
        else:
            known.properties[cls][name] = [_at_once(*made[:-1], line(body=[cst.Return(_as_array(value))]))]


def _of_numpy(node: Any) -> Any:
    """`np.eye(n)` of `jnp.eye(n)`"""

    def before(n: Any) -> Any:
        if isinstance(n, cst.Attribute) and tree.code(n.value) == "jnp" and n.attr.value in SAME | TYPES:
            return tree.replace(n, value=cst.Name("np"))
        if isinstance(n, cst.Call) and tree.dotted(n.func) == "lax.stop_gradient":
            return _of_numpy(n.args[0].value)
        return None

    return tree.rewrite(node, before)


def _as_array(node: Any) -> Any:
    return tree.replace(tree.expression("np.asarray(x)"), args=[cst.Arg(node)])


def _at_once(*lines: Any) -> Any:
    block = tree.statement("with jax.ensure_compile_time_eval():\n    pass\n")
    first = tree.replace(lines[0], leading_lines=[])
    return tree.replace(tree.with_body(block, [first, *lines[1:]]), leading_lines=lines[0].leading_lines)
