"""Arrays of modules as Variables: declared as `nnx.Param(v)`, read as `self.w[...]`, and written in
place."""

from __future__ import annotations

from typing import Any

from ...facts import stored_types
from ...facts.modules import ARRAYS, SUBMODULE, Array
from ...facts.values.lattice import Instance, Module, Tensor
from ...model.constants import is_none
from ...model.copy import clone
from ...model.effects import Declare, NewArray, Put, Read, Tie, Write
from ...model.expressions import Attribute, Call, Constant, Name, Subscript
from ...model.names import dotted
from ...model.node import Expression, Statement
from ...model.operators import Binary, Compare, Conditional, sides
from ...model.program import Class, Function
from ...model.statements import Assign, Block, ExpressionStatement, If
from ...source.lower_ast import expression
from ..sharing.list_growth import added, grown, holds_arrays, is_array, is_list, is_part_of_list
from ..sharing.ties import UNSEEN, below
from .containers import keeps_modules, tell
from .initial_values import Begun, is_container
from .lowering import Lowering, nnx, whole
from .program import RUNNING, dotted_read
from .reads import holds_container
from .rebound_buffers import changes_shape, changes_type, set_whole

IN_PLACE = {"add": "+", "multiply": "*", "divide": "/"}


# --- declarations ---------------------------------------------------------------------------------


def declare(low: Lowering, node: Declare) -> None:
    """`self.weight = nnx.Param(v)`; where a leaf is None it stays None."""
    cls = low.cls(node)
    none = is_none(node.expression) and cls is not None and low.plan.is_data(cls, node.name)
    again = cls is not None and low.plan.is_set_again(cls, node.name)
    begun = low.plan.begun(cls, node.name) if cls is not None else Begun()
    late = low.plan.is_late(cls, node.name) and node.kind in ARRAYS
    given = {leaf: low.plan.given(leaf) for leaf in _leaves(node.expression) if not late}
    refilled = node.kind == SUBMODULE and low.plan.may_hold_static(node)

    def edit(node: Declare) -> None:
        assert node.expression is not None
        if none and not late:
            node.expression.replace(Call(nnx("data"), [Constant(None)]))
        elif node.kind == SUBMODULE:
            tell(node.expression)
            if refilled:
                node.expression.wrap(lambda v: Call(nnx("data"), [v]))
        elif late:
            node.expression.wrap(lambda v: _variable(low, node.here, node.name, node.persistent, v))
        else:
            absent = [end for end in sides(node.expression) if again and is_none(end)]
            for leaf in _leaves(node.expression):
                leaf.wrap(
                    lambda v: _held_array(low, node, v, given.get(v, ""), again, begun.fraction)
                )
            for end in absent:
                end.replace(_absent(again))
        node.become(Assign(node.targets, node.expression, node.operator, node.annotation))

    if isinstance(node.targets[0], Attribute) or none:
        low.edits.change(node, edit)


def _variable(low: Lowering, kind: str, name: str, persistent: bool, value: Expression) -> Call:
    if kind == "param":
        return Call(nnx("Param"), [value])
    if kind == "constant":
        return Call(low.support("Constant"), [value])
    if name in RUNNING:
        return Call(nnx("BatchStat"), [value])
    made = Call(low.support("Buffer"), [value])
    if not persistent:
        made.append(Constant(False), "persistent")
    return made


def _held_array(
    low: Lowering, node: Declare, value: Expression, given: str, again: bool, fraction: bool
) -> Expression:
    """A Variable of a value, of which `given` says whether it is a number, or None."""
    array = _of_number(value, fraction) if "number" in given else value
    made = _variable(low, node.here, node.name, node.persistent, array)
    if "optional" not in given:
        return made
    return Conditional(_absent(again), Compare([clone(value), Constant(None)], ["is"]), made)


def _of_number(value: Expression, fraction: bool) -> Call:
    """`jnp.array(0.0)`: of floats, where it may be given fractions."""
    if not isinstance(value, Constant):
        made = Call(Attribute(Name("jnp"), "asarray"), [value])
        if fraction:
            made.append(Name("float"))
        return made
    number: Any = value.constant
    return Call(Attribute(Name("jnp"), "array"), [Constant(float(number)) if fraction else value])


def _absent(again: bool) -> Expression:
    """None, where an array may be set later."""
    return Call(nnx("data"), [Constant(None)]) if again else Constant(None)


def _leaves(value: Expression | None) -> list[Expression]:
    """What is wrapped: the whole, or what is not None of a choice in which None stands."""
    if isinstance(value, Conditional) and any(map(is_none, sides(value))):
        return [*_leaves(value.body), *_leaves(value.orelse)]
    return [] if value is None or is_none(value) else [value]


def new_array(low: Lowering, node: NewArray) -> None:
    """`setattr(self, name, nnx.Param(v))`"""

    def edit(node: NewArray) -> None:
        word = nnx("Param") if node.kind == "param" else low.support("Buffer")
        node.replace(Call(word, [node.arguments[0]]))

    low.edits.change(node, edit)


def assign(low: Lowering, node: Assign) -> None:
    """`self.bias = None` of what is an array elsewhere: an attribute of data from the start; so is
    `self.layers = []` of what becomes a container, and a list of arrays."""
    cls, value = low.cls(node), node.expression
    if cls is None or value is None or node.operator or low.unit(node) not in low.plan.building:
        return
    listed = is_list(value) or is_container(value)
    names = [t.name for t in node.targets if isinstance(t, Attribute) and low.is_self(t.object)]
    if is_none(value) and any(low.plan.is_data(cls, n) for n in names):
        low.edits.change(node, lambda n: n.expression.replace(Call(nnx("data"), [Constant(None)])))
    elif (
        is_part_of_list(value)
        or listed
        and (keeps_modules(low, node, cls) or any(low.plan.becomes_module(cls, n) for n in names))
    ):
        low.edits.change(node, lambda n: tell(n.expression))
    elif names and (
        holds_arrays(value.value) or isinstance(value.value, Instance) or _gets_arrays(low, node)
    ):
        low.edits.wrap(value, lambda v: Call(nnx("data"), [v]))


def _gets_arrays(low: Lowering, node: Assign) -> bool:
    """`self.noises = []`, which arrays are put into: `self.noises.append(torch.zeros(n))`"""
    method, path = low.unit(node), dotted(node.targets[0])
    if not isinstance(method, Function) or path is None or not is_list(node.expression):
        return False
    return any(is_array(v.value) for s in grown(method, path) for v in added(s))


# --- writes ---------------------------------------------------------------------------------------


def write(low: Lowering, node: Write) -> None:
    """`self.hits[...] += 1`; what was None so far becomes a Variable."""
    target, value = node.target, node.value  # a target is a Name in a walk over params
    own = isinstance(target, Attribute) and low.is_self(target.object)
    late = isinstance(target, Read) and True in low.plan.late_at(target)
    first = own and not late and low.plan.is_unset(low.cls(node), target.name)
    gone = not late and low.unit(node) in low.plan.building
    path, cls = dotted_read(target), low.cls(node)
    begun = low.plan.begun(cls, target.name) if own and cls is not None else Begun()
    tied = low.plan.written_tie(low.unit(node), path)
    owner = f"{low.self_name(node)}.{tied.owner}" if tied is not None else ""
    begins = None if own else _begins_from_outside(low, node)
    changed = stored_types.becomes_another(low.plan.modules, _holders(low, node), node)
    changed = changed or own and changes_type(low, node)
    shaped = changed or own and node.bound and changes_shape(low, node)
    contains = is_container(value) or holds_container(low, target)
    if node.detached and (isinstance(target, Name) or target.kind == "param"):
        if low.unit(node) not in low.plan.building:
            low.edits.change(node, lambda n: _set_data(low, n))
            return
    same = isinstance(value, Binary) and isinstance(value.left, Read)
    augmented = same and path is not None and dotted_read(value.left) == path  # type: ignore[attr-defined]
    augmented = augmented and (not late or isinstance(value.value, Tensor))
    augmented = augmented and not changed and not contains
    put = (
        isinstance(value, Put) and isinstance(value.base, Read) and dotted_read(value.base) == path
    )
    placed = put and (value.how == "set" or value.how in IN_PLACE)  # type: ignore[attr-defined]

    def edit(node: Write) -> None:
        target: Any = node.target
        if isinstance(target, (Read, Attribute)):
            target = Attribute(target.object, target.name)
        value: Any = node.value
        made: Assign | ExpressionStatement
        if begun.fraction and (first or late) and isinstance(value, Constant):
            if not is_none(value):  # as what other sides of branches set
                value = Constant(float(value.constant))
        if late and not begun.size and type(getattr(value, "constant", None)) in (int, float):
            value = _of_number(value, begun.fraction)  # `self.hits = 0`, read as `self.hits[...]`
        if gone and is_none(value) and isinstance(node.target, Read):
            made = Assign([target], Constant(None))  # it goes without from here on
        elif augmented:
            made = Assign([whole(target)], _detached(node, value.right), value.operator)
        elif placed:
            operator = IN_PLACE.get(value.how, "")
            made = Assign([Subscript(target, value.index)], _detached(node, value.new), operator)
        elif shaped or late:
            made = set_whole(target, _detached(node, value))
        elif first:
            made = Assign([target], Call(low.support("Constant"), [_detached(node, value)]))
        elif begins is not None:
            kept = begins.kind, begins.name, begins.persistent
            made = Assign([target], _variable(low, *kept, _detached(node, value)))
        elif contains:
            made = set_whole(target, value)
        else:
            made = Assign([whole(target)], _detached(node, value))
        node.replace(made if tied is None else _where_tied(made, path, owner))

    if placed:
        low.skipped.add(value)
    low.edits.change(node, edit)


def _holders(low: Lowering, node: Write) -> list[Class]:
    """The classes of the module that a write is to."""
    unit = low.unit(node)
    if not isinstance(node.target, Read) or unit is None:
        return []
    return low.plan.classes_at(node.target.object, unit)


def _begins_from_outside(low: Lowering, node: Write) -> Array | None:
    """`self.attn.mask = mask`, in a constructor, of what that of `attn` sets to None."""
    target, modules = node.target, low.plan.modules
    if not isinstance(target, Read) or low.unit(node) not in low.plan.building:
        return None
    value = target.object.value
    if isinstance(value, Module) and value.is_bare:  # `self.mid.gain = nn.Parameter(v)`
        return Array(target.name, target.kind)
    found = modules.classes_of_value(value)
    unset = [cls for cls in found if low.plan.is_unset(cls, target.name)]
    return modules.arrays(unset[0]).get(target.name) if unset else None


def _where_tied(made: Statement, path: str | None, owner: str) -> If:
    """A write while a model is built to an array that is another's by now, or will be."""
    there = clone(made)
    for node in [n for n in there.walk() if isinstance(n, Attribute) and dotted(n) == path]:
        node.replace(expression(owner))
    absent = Compare([expression(path or ""), Constant(None)], ["is"])
    return If(absent, Block([there]), Block([made]))


def _set_data(low: Lowering, node: Write) -> None:
    """`self.w[...] = nn.set_data(self.w[...], v)`: a param keeps its gradient when its data
    change."""
    held: Any = node.target
    target = held if isinstance(held, Name) else Attribute(held.object, held.name)
    value = Call(low.support("set_data"), [whole(clone(target)), node.value])
    node.replace(Assign([whole(target)], value))


def _detached(node: Write, value: Expression) -> Expression:
    if not node.detached:
        return value
    return Call(Attribute(Name("lax"), "stop_gradient"), [value])


def tie(low: Lowering, node: Tie) -> None:
    """One array has one owner: the other side has None in its place, and reads the owner's. What
    is tied by no plain path, or to one of two, shares its Variable."""
    cls, me = low.cls(node), low.self_name(node)
    shared = not low.plan.ties.knows(node, cls, me)
    known = low.plan.ties.of(cls)
    sides = [(below(side.object, me), side.name) for side in (node.target, node.source)]
    if shared and any(known.array(holder, name) is not None for holder, name in sides):
        low.report("tied-weight", node, UNSEEN)
        why = [Constant("tied-weight"), Constant("a tied array")]
        raising = ExpressionStatement(Call(low.support("unconverted"), why))
        low.edits.change(node, lambda n: n.replace(raising))
        return

    def edit(node: Tie) -> None:
        target = Attribute(node.target.object, node.target.name)
        source = Attribute(node.source.object, node.source.name)
        node.replace(Assign([target], source if shared else Constant(None)))

    low.edits.change(node, edit)
