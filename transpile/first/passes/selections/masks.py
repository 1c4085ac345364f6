"""The masks of selections: their names, whether they still have the value that they had, and arrays whose other places are made safe."""

from __future__ import annotations

import dataclasses
from typing import Any

import libcst as cst

from ... import tree
from ...emit import bare, call, fresh_name
from ...inplace import is_inplace_name
from ...values import Method, Static, Tensor, Torch
from .ranks import Ranks
from .scope import Scope
from .wholes import FINITE, RAW, Chosen, Mask


def of_call(node: cst.Call) -> tuple[Any, Any]:
    """What `torch.masked_select(x, mask)` or `x.masked_select(mask)` selects from, and by what."""
    if len(node.args) == 2:
        return node.args[0].value, node.args[1].value
    assert isinstance(node.func, cst.Attribute)
    return node.func.value, node.args[0].value


def made(scope: Scope, node: Any, flat: bool) -> Mask | None:
    """A mask by its name; an expression gets one. None where it may not keep its value."""
    reads = tree.names_read(node)
    if scope.concerns(node) or reads & scope.written and not _is_fresh(scope, node):
        return None
    versions = tuple((name, scope.entry(name).version) for name in sorted(reads))
    if isinstance(node, cst.Name):
        return Mask(node.value, versions, scope.ranks(node), flat)
    if not scope.open or not _is_pure(scope, node):
        return None
    key = (tree.code(node), versions, scope.statement if reads & scope.written else 0)
    if key not in scope.env.hoisted:
        name = fresh_name(scope.used, "mask")
        scope.pending[name] = node
        scope.env.hoisted[key] = Mask(name, (), scope.ranks(node))
    return dataclasses.replace(scope.env.hoisted[key], flat=flat)


def _is_fresh(scope: Scope, node: Any) -> bool:
    """Whether a mask is computed where it stands, so that a later write to what it is computed from does not change it."""
    return isinstance(node, (cst.Comparison, cst.UnaryOperation, cst.BinaryOperation))


def _is_pure(scope: Scope, node: Any) -> bool:
    """Whether an expression can be computed before the statement that it stands in."""
    calls = list(tree.nodes(node, cst.Call))
    plain = all(isinstance(scope.value(c.func), (Torch, Method)) for c in calls)
    return plain and not any(isinstance(c.func, cst.Attribute) and is_inplace_name(c.func.attr.value) for c in calls) and not any(tree.nodes(node, cst.NamedExpr, cst.Lambda))


def named(scope: Scope, chosen: Chosen) -> Any:
    """The mask of a selection, where it still has the value that it had there."""
    if any(scope.entry(name).version != version for name, version in chosen.mask.versions):
        scope.refuse(chosen)
    scope.uses[chosen.mask.text] += 1
    return scope.told(tree.expression(chosen.mask.text), Tensor(kind="b"))


def aligned(scope: Scope, a: Chosen, b: Chosen) -> Chosen | None:
    """Two selections whose wholes have one rank, as one; None where that is not known, and cannot be asserted."""
    if (a.mask.text, a.mask.versions) != (b.mask.text, b.mask.versions):
        return None
    env = scope.env
    one = dataclasses.replace(a, mask=dataclasses.replace(a.mask, flat=a.mask.flat and b.mask.flat), ranks=a.ranks | b.ranks)
    if a.mask.flat and b.mask.flat or env.resolve(a.ranks) == env.resolve(b.ranks) or all(env.covers(c) for c in (a, b)):
        return one
    if a.mask.flat != b.mask.flat or not _asserted(scope, a, b):
        return None
    return one


def _asserted(scope: Scope, a: Chosen, b: Chosen) -> bool:
    """Have it asserted that two wholes have one rank: where the later of them is selected, if that is certain to come here, or before this statement."""
    if a.root is not None and b.root is not None and a.root.statement > b.root.statement:
        a, b = b, a
    first, second = _subject(scope, a), _subject(scope, b)
    if a.root is not None and b.root is not None and b.root.block == scope.block:
        together = a.root.statement == b.root.statement
        if together or a.subject is not None and first == a.subject[0] and a.subject[1] <= scope.started[b.root.statement]:
            scope.asserts[b.root.statement].append((a.root.name if together else a.subject[0], b.root.name))  # type: ignore[index]
            return assume(scope, a.ranks, b.ranks, a.mask.ranks)
    if first is None or second is None or not scope.open:
        return False
    scope.asserts[scope.statement].append((first, second))
    return assume(scope, a.ranks, b.ranks, a.mask.ranks)


def _subject(scope: Scope, chosen: Chosen) -> str | None:
    """A name that has the rank of a whole, here and now, or how many dims more: "m + 1"."""
    ranks = chosen.ranks if len(chosen.ranks) == 1 else scope.env.resolve(chosen.ranks)
    (only,) = ranks if len(ranks) == 1 else [(None, 0)]
    of_token = (*only[0], only[1]) if isinstance(only[0], tuple) and only[1] >= 0 else None
    for name, version, more in filter(None, ((*chosen.subject, 0) if chosen.subject is not None else None, of_token)):
        if isinstance(name, str) and scope.entry(name).version == version:
            return f"{name} + {more}" if more else name
    same = frozenset([(only[0], 0)])
    held = next((name for name, entry in scope.env.names.items() if entry.ranks == same and only[0] is not None), None)
    return None if held is None or only[1] < 0 else f"{held} + {only[1]}" if only[1] else held


def assume(scope: Scope, one: Ranks, other: Ranks, mask: Ranks) -> bool:
    """Take two ranks for the same from here on: that of the mask, if one of them is."""
    left, right = scope.env.resolve(one), scope.env.resolve(other)
    known, new = (left, right) if left <= scope.env.resolve(mask) else (right, left)
    if known != new:
        scope.env.same[new] = known
    return True


def made_safe(scope: Scope, node: Any, chosen: Chosen, at: Any) -> Any:
    """The whole with a number outside of the mask where an operation needs one there: any, or this one."""
    if chosen.kind == "b" and at == FINITE or at == FINITE and chosen.outside != RAW:
        return node
    if at != FINITE and chosen.binding is not None:
        scope.needs[chosen.binding].add(at)
    numeric = not isinstance(chosen.outside, str)
    if at != FINITE and numeric and (chosen.outside == at or at == 1 and chosen.outside > 0):
        return node
    return filled(scope, node, chosen, 0 if at == FINITE else at)


def filled(scope: Scope, node: Any, chosen: Chosen, number: Any) -> Any:
    """`torch.where(mask, x, 0)`"""
    other = cst.Name("False") if chosen.kind == "b" else tree.expression(repr(number))
    scope.told(other, Static(number, "bool" if chosen.kind == "b" else type(number).__name__))
    where = call("torch.where", [named(scope, chosen), bare(node), other])
    scope.told(where.func, Torch("torch.where[rows]" if scope.env.is_loose(chosen) else "torch.where"))
    if not isinstance(scope.value(node), Tensor):
        scope.told(node, Tensor(kind=chosen.kind))
    return scope.told(where, Tensor(kind=chosen.kind))
