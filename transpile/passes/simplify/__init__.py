"""What operations one after the other can be written as at once: `rules/rewrites.py`."""

from __future__ import annotations

import ast
from functools import partial
from typing import Any, NamedTuple

from ...facts.shapes.shape_arguments import DRAWS, drawn_shape
from ...facts.values.lattice import Static, Tensor
from ...model.copy import Change, clone, rebuilt
from ...model.effects import Detached, Put, Support
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Display,
    Lambda,
    Name,
    Slice,
    Starred,
    Subscript,
)
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Compare, Unary
from ...model.program import Scope
from ...model.rulebook import Rulebook
from ...source.lower_ast import expression, lowered
from ..operations.literals import UNDECIDED, literal
from ..pass_ import Changes, Pass
from .gathers import kept
from .shapes import Shapes, fitting

_INFINITE = frozenset("jnp.inf np.inf numpy.inf math.inf jnp.nan np.nan math.nan".split())


class Rewrite(NamedTuple):
    """An expression of some variables, and what it can be written as."""

    variables: frozenset[str]
    before: Expression
    after: Expression


def rewrites(rulebook: Rulebook) -> list[Rewrite]:
    """The pairs of functions of the rule files."""
    node = rulebook.definitions["REWRITES"].node
    assert isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
    found = []
    for pair in node.value.elts:
        before, after = (lowered(side) for side in pair.elts)  # type: ignore[attr-defined]
        assert isinstance(before, Lambda) and isinstance(after, Lambda)
        names = frozenset(p.name for p in before.parameters)
        found.append(Rewrite(names, before.body, after.body))
    return found


def run(scope: Scope, facts: Any) -> Changes:
    """Write at once what can be; inner expressions first, so that one makes way for the next."""
    changes = Changes(scope)
    table, shapes = rewrites(facts.rulebook), Shapes(scope, facts)
    words = {_word(rewrite.before) for rewrite in table} | set(_COMPUTED)
    built = facts.stage(scope) == "building"
    for node in scope.nodes(Call, Attribute, Compare):
        if isinstance(node, Compare):
            changes.replace(node, _of_values)
            continue
        if (number := _number(node)) is not None:
            changes.replace(node, partial(lambda number, _: number, number))
            continue
        if built and _is_constant(node):
            changes.replace(node, lambda n: n.arguments[0])
            continue
        if _word(node) == "jnp.expand_dims" and _word(node.parent) != "jnp.expand_dims":
            changes.replace(node, lambda n: _indexed(simplified(n, table)))
        elif _word(node) in words or isinstance(node, Call) and "axis" in node.keywords:
            changes.replace(node, lambda n: simplified(n, table))
        plainer = shapes.plainer(node) if isinstance(node, Call) else None
        if plainer is not None:
            changes.replace(node, plainer)
    return changes


def simplified(node: Expression, table: list[Rewrite]) -> Expression:
    """What stands for a call or attribute; itself where that is as plain as it can be."""
    if isinstance(node, Call):
        node = _of_one_number(_with_plain_axes(node))
    for rewrite in table:
        bound: dict[str, Expression] = {}
        if _matches(rewrite.before, node, rewrite.variables, bound):
            return _with(bound, rewrite.after)
    computed = _COMPUTED.get(_word(node))
    found = computed(node) if computed is not None and isinstance(node, Call) else None
    return node if found is None else found


def _with(bound: dict[str, Expression], after: Expression) -> Expression:
    """The user's nodes in the place of variables, none of which a pair names twice."""

    def change(node: Node) -> Change:
        if not isinstance(node, Name) or node.id not in bound:
            return None
        around, given = node.parent, bound[node.id]
        size = isinstance(around, Call) and around.arguments[1:2] == [node]
        return drawn_shape(given) if size and _word(around) in DRAWS else given

    return rebuilt(after, change)


def _word(node: Node | None) -> str:
    """The function that is called, or the attribute that is asked for; of a method of what another
    call makes, `jnp.zeros(3).astype(int)`, its name."""
    if isinstance(node, Call):
        function = node.function
        if isinstance(function, Attribute) and isinstance(function.object, Call):
            return f"().{function.name}"
        return function.name if isinstance(function, Support) else dotted(function) or ""
    return f".{node.name}" if isinstance(node, Attribute) else ""


def _matches(
    pattern: Node, node: Node, variables: frozenset[str], bound: dict[str, Expression]
) -> bool:
    """Whether an expression is a pattern with something in the place of each variable."""
    if isinstance(pattern, Name) and pattern.id in variables:
        if not isinstance(node, Expression) or isinstance(node, Starred) or pattern.id in bound:
            return False
        bound[pattern.id] = node
        return True
    if isinstance(pattern, Name) and isinstance(node, Support):  # `normal_`, a rule that is called
        return pattern.id == node.name
    if pattern.__class__ is not node.__class__:
        return False
    for name in ("id", "name", "constant", "operator", "keywords"):
        if getattr(pattern, name, None) != getattr(node, name, None):
            return False
    parts, others = pattern.children(), node.children()
    pairs = zip(parts, others)
    return len(parts) == len(others) and all(_matches(p, n, variables, bound) for p, n in pairs)


# --- gradients ------------------------------------------------------------------------------------


def _of_values(node: Compare) -> Compare:
    """`x.mean() > 0` of `lax.stop_gradient(x.mean()) > 0`: no gradient passes a comparison."""
    for operand in node.operands:
        if isinstance(operand, Detached) and operand.unless is None:
            operand.replace(operand.expression)
        elif isinstance(operand, Call) and _word(operand) == "lax.stop_gradient":
            operand.replace(operand.arguments[0])
    return node


def _is_constant(node: Node) -> bool:
    """`lax.stop_gradient(jnp.array([n, 1]))`, of what a constructor is given."""
    if not isinstance(node, Call) or _word(node) != "lax.stop_gradient":
        return False
    return _word(node.arguments[0]) in ("jnp.array", "jnp.asarray")


# --- axes -----------------------------------------------------------------------------------------


def _with_plain_axes(node: Call) -> Call:
    """`x.sum(axis=(0, 2))` for torch's `x.sum([0, 2])`, `x.sum(axis=1)` for `x.sum([1])`."""
    axes = node.keyword("axis")
    numbers = literal(axes) if isinstance(axes, Display) and axes.kind == "list" else UNDECIDED
    if not numbers or not isinstance(numbers, list) or not isinstance(axes, Display):
        return node
    if all(isinstance(number, int) for number in numbers):
        one = axes.elements[0]
        axes.replace(clone(one) if len(numbers) == 1 else Display("tuple", axes.elements))
    return node


def _expanded(node: Call) -> Expression | None:
    """`jnp.expand_dims(jnp.expand_dims(x, 1), 2)` as `jnp.expand_dims(x, (1, 2))`, where both count
    from the same end.
    """
    inner = node.arguments[0]
    first, outer = _axes(inner), _axes(node)
    if first is None or outer is None or len(outer) != 1 or not isinstance(inner, Call):
        return None
    axis = outer[0]
    if all(a >= 0 for a in first) and axis >= 0:
        axes = sorted([axis, *(a if a < axis else a + 1 for a in first)])
    elif all(a < 0 for a in first) and axis < 0:
        # what stands to the left of the new axis moves away from the end
        axes = sorted([axis, *(a if a > axis else a - 1 for a in first)])
    elif all(a >= 0 for a in first) and axis == -1 or all(a < 0 for a in first) and axis == 0:
        axes = sorted([axis, *first], key=lambda a: (a < 0, a))
    else:
        return None
    inner.arguments[1].replace(expression(repr(tuple(axes))))
    return inner


def _indexed(node: Expression) -> Expression:
    """`x[:, None]` of `jnp.expand_dims(x, 1)`, as far as four places say it."""
    axes = _axes(node)
    if axes is None or not isinstance(node, Call) or isinstance(node.arguments[0].value, Static):
        return node
    if len(axes) == 1 and axes[0] >= 0 and (found := kept(node.arguments[0], axes[0])) is not None:
        return found
    first, last = max([-1, *axes]) + 1, min([0, *axes])
    if first - last > 4:
        return node
    places = [*range(first), *([None] if last else []), *range(last, 0)]
    parts: list[Expression] = [
        Constant(...) if p is None else Constant(None) if p in axes else Slice(None, None)
        for p in places
    ]
    index = parts[0] if len(parts) == 1 else Display("tuple", parts)
    return Subscript(node.arguments[0], index)


def _axes(call: Expression) -> list[int] | None:
    """The literal axes of `jnp.expand_dims(x, axes)`."""
    if _word(call) != "jnp.expand_dims" or not isinstance(call, Call):
        return None
    given = literal(call.arguments[1]) if call.keywords == [None, None] else UNDECIDED
    axes = given if isinstance(given, tuple) else (given,)
    return [*axes] if all(isinstance(axis, int) for axis in axes) else None


# --- arrays of one number -------------------------------------------------------------------------


def _of_one_number(node: Call) -> Call:
    """`jnp.ones_like(x)` of `jnp.full_like(x, 1)`"""
    plain = _word(node) == "jnp.full_like" and node.keywords == [None, None]
    value = literal(node.arguments[1]) if plain else None
    if isinstance(value, bool) or value not in (0, 1):
        return node
    return Call(expression("jnp.ones_like" if value else "jnp.zeros_like"), node.arguments[:1])


def _filled(node: Call) -> Expression | None:
    """`jnp.full((3,), -1.0)` of `jnp.full_like(jnp.zeros((3,)), -1)`: jnp.full takes the dtype of
    the number.
    """
    inner = node.arguments[0]
    if not isinstance(inner, Call) or _word(inner) not in ("jnp.zeros", "jnp.ones"):
        return None
    if node.keywords != [None, None] or inner.keywords not in ([None], [None, "dtype"]):
        return None
    shape, *dtype = inner.arguments
    if dtype:
        # a dtype that may be None leaves it to the number, where jnp.zeros makes floats
        parts = [shape, node.arguments[1], *dtype]
        full = Call(expression("jnp.full"), parts, [None, None, "dtype"])
        return full if _is_dtype(dtype[0]) else None
    if (filled := _as_float(node.arguments[1])) is None:
        return None
    value = literal(filled)
    if value in (0.0, 1.0):
        return Call(expression("jnp.ones" if value else "jnp.zeros"), [shape])
    return Call(expression("jnp.full"), [shape, filled])


def _number(node: Node) -> Expression | None:
    """-1 of `x.at[0].set(jnp.full_like(x[0], -1))`, which fills the place by itself."""
    put = node.parent
    if not isinstance(put, Put) or put.how != "set" or put.new is not node:
        return None
    if not isinstance(node, Call) or any(word is not None for word in node.keywords):
        return None
    if _word(node) == "jnp.full_like":
        given = node.arguments[1]
        return given if isinstance(literal(given), bool) or _as_float(given) is not None else None
    if (number := {"jnp.zeros_like": 0, "jnp.ones_like": 1}.get(_word(node))) is None:
        return None
    held = put.base.value
    return Constant(bool(number) if isinstance(held, Tensor) and held.kind == "b" else number)


def _is_dtype(node: Expression) -> bool:
    """Whether an expression is a dtype for certain, and not None: `int`, `x.dtype`."""
    name = dotted(node) or ""
    return name in ("int", "float", "bool") or name.startswith("jnp.") or _word(node) == ".dtype"


def _as_float(node: Expression) -> Expression | None:
    """A number in the source as a float, `-jnp.inf` as it is; None for what is not one there."""
    if isinstance(node, Unary) and node.operator == "-":
        inner = _as_float(node.operand)
        return None if inner is None else Unary("-", inner)
    value = literal(node)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return node if isinstance(value, float) else Constant(float(value))
    return node if dotted(node) in _INFINITE else None


_COMPUTED = {"jnp.broadcast_to": fitting, "jnp.expand_dims": _expanded, "jnp.full_like": _filled}
PASS = Pass("simplify", ("modules",), run)
