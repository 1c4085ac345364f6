"""Arrays of modules as Variables: declared as `nnx.Param(v)`, read as `self.w[...]`, and written in
place."""

from __future__ import annotations

from typing import Any

from ...model.copy import clone
from ...model.effects import Declare, NewArray, Put, Read, Tie, Write
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Display,
    FormattedString,
    Name,
    Subscript,
)
from ...model.names import dotted
from ...model.node import Expression, Node, Statement
from ...model.operators import Binary, Boolean, Compare, Conditional, Unary
from ...model.statements import Assign, Block, If, Raise, Return
from .lowering import Lowering, nnx, whole
from .plan import RUNNING

ASKED = frozenset({"shape", "ndim", "dtype", "size"})  # which a Variable has of its array
IN_PLACE = {"add": "+", "multiply": "*", "divide": "/"}


# --- declarations -----------------------------------------------------------------------------------


def declare(low: Lowering, node: Declare) -> None:
    """`self.weight = nnx.Param(v)`; where a leaf is None it stays None."""
    cls = low.cls(node)
    first = node.targets[0]
    none = _is_none(node.expression) and cls is not None and low.plan.is_data(cls, node.name)

    def edit(node: Declare) -> None:
        assert node.expression is not None
        if none:
            node.expression.replace(Call(nnx("data"), [Constant(None)]))
        elif node.kind == "submodule":
            _held(node.expression)
        else:
            for leaf in _leaves(node.expression):
                leaf.wrap(lambda v: _variable(low, node.kind, node.name, node.persistent, v))
        node.become(Assign(node.targets, node.expression, node.operator, node.annotation))

    if isinstance(first, Attribute) or none:
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


def _leaves(value: Expression) -> list[Expression]:
    """What is wrapped: the whole, or what is not None of a choice in which None stands."""
    if isinstance(value, Conditional) and any(map(_is_none, _ends(value))):
        return [*_leaves(value.body), *_leaves(value.orelse)]
    return [] if _is_none(value) else [value]


def _ends(value: Expression) -> list[Expression]:
    if isinstance(value, Conditional):
        return [*_ends(value.body), *_ends(value.orelse)]
    return [value]


def _held(value: Expression) -> None:
    """Lists and dicts of submodules are told to NNX."""
    for leaf in _ends(value):
        listed = isinstance(leaf, (Display, Comprehension)) and leaf.kind in ("list", "tuple")
        keyed = (
            isinstance(leaf, Dictionary) or isinstance(leaf, Comprehension) and leaf.kind == "dict"
        )
        if listed or keyed:
            word = "List" if listed else "Dict"
            leaf.wrap(lambda leaf, word=word: Call(nnx(word), [leaf]))  # type: ignore[misc]


def new_array(low: Lowering, node: NewArray) -> None:
    """`setattr(self, name, nnx.Param(v))`"""

    def edit(node: NewArray) -> None:
        word = nnx("Param") if node.kind == "param" else low.support("Buffer")
        node.replace(Call(word, [node.arguments[0]]))

    low.edits.change(node, edit)


def assign(low: Lowering, node: Assign) -> None:
    """`self.bias = None` of what is an array elsewhere: an attribute of data from the start."""
    cls = low.cls(node)
    if cls is None or not _is_none(node.expression) or node.operator:
        return
    names = [t.name for t in node.targets if isinstance(t, Attribute) and low.is_self(t.object)]
    unit = low.unit(node)
    if names and unit in low.plan.building and any(low.plan.is_data(cls, n) for n in names):
        low.edits.change(node, lambda n: n.expression.replace(Call(nnx("data"), [Constant(None)])))


# --- reads ------------------------------------------------------------------------------------------


def read(low: Lowering, node: Read) -> None:
    """The array of a Variable, or the Variable itself where it is only asked about."""
    parent = node.parent
    if isinstance(parent, (Declare, Tie)) or isinstance(parent, Write) and parent.target is node:
        return
    if isinstance(parent, Assign) and node in parent.targets:
        low.edits.change(node, _plain)
        return
    indexed = isinstance(parent, Subscript) and parent.object is node
    asked = isinstance(parent, Attribute) and parent.name in ASKED
    if _is_test(node) or indexed or asked:
        low.edits.change(node, _plain)
    elif _may_be_none(low, node):
        low.edits.change(node, lambda n: n.wrap(lambda n: Call(low.support("array_of"), [n])))
        low.edits.change(node, _plain)
    else:
        low.edits.change(node, lambda n: _plain(n).wrap(whole))


def _plain(node: Read) -> Attribute:
    made = Attribute(node.object, node.name)
    node.become(made)
    return made


def _is_test(node: Expression) -> bool:
    """`self.bias is None`, `if self.bias`, `not self.bias`"""
    parent = node.parent
    if isinstance(parent, Compare):
        return any(word in ("is", "is not") for word in parent.operators)
    if isinstance(parent, (Unary, Boolean)):
        return not isinstance(parent, Unary) or parent.operator == "not"
    return isinstance(parent, (If, Conditional)) and parent.test is node


def _may_be_none(low: Lowering, node: Read) -> bool:
    """Whether None may be read, and handed on: what uses an array at once raises for None too."""
    used = isinstance(node.parent, (Binary, Attribute, Compare, Subscript))
    unit = low.unit(node)
    if used or unit is None:
        return False
    if node.kind == "mixed":
        return True
    classes = low.plan.classes_at(node.object, unit)
    found = [low.plan.array(cls, node.name) for cls in classes]
    return any(a is not None and a[1] for a in found) and not _is_guarded(node)


def _is_guarded(node: Read) -> bool:
    """Whether a test around a read, or before it, says that it is not None."""
    path = dotted_read(node)
    inner: Node = node
    for around in node.ancestors():
        if isinstance(around, (If, Conditional)) and path is not None:
            if inner is around.body and _says(around.test, path, "is not", "and"):
                return True
            if inner is around.orelse and _says(around.test, path, "is", "or"):
                return True
        if isinstance(around, Block) and path is not None and isinstance(inner, Statement):
            before = around.body[: next(i for i, s in enumerate(around.body) if s is inner)]
            if any(_leaves_if_none(s, path) for s in before):
                return True
        inner = around
    return False


def _leaves_if_none(statement: Statement, path: str) -> bool:
    if not isinstance(statement, If) or statement.orelse is not None:
        return False
    leaves = isinstance(statement.body.body[-1], (Return, Raise))
    return leaves and _says(statement.test, path, "is", "or")


def _says(test: Expression, path: str, word: str, joint: str) -> bool:
    """Whether a test has `path is not None` among what it joins by `and`, or `is None` by `or`."""
    if isinstance(test, Boolean):
        return test.operator == joint and any(
            _says(side, path, word, joint) for side in (test.left, test.right)
        )
    if not isinstance(test, Compare) or test.operators != [word]:
        return False
    return dotted_read(test.operands[0]) == path and _is_none(test.operands[1])


def dotted_read(node: Expression) -> str | None:
    """`self.fc.bias` of a Read, which is an Attribute of another class."""
    parts: list[str] = []
    current: Any = node
    while isinstance(current, Attribute):
        parts.append(current.name)
        current = current.object
    return ".".join([current.id, *reversed(parts)]) if isinstance(current, Name) else None


def getattr_read(low: Lowering, node: Call) -> None:
    """`getattr(self, f"weight_{i}")`: an array under a name that is computed."""
    cls = low.cls(node)
    if dotted(node.function) != "getattr" or cls is None or len(node.arguments) < 2:
        return
    name = node.arguments[1]
    if not low.is_self(node.arguments[0]) or not isinstance(name, (FormattedString, Constant)):
        return
    if isinstance(name, Constant) and low.plan.array(cls, str(name.constant)) is None:
        return
    if isinstance(name, FormattedString) and not low.plan.has_computed(cls):
        return
    if len(node.arguments) == 2 and low.in_library:
        low.edits.wrap(node, whole)
    else:
        low.edits.wrap(node, lambda n: Call(low.support("array_of"), [n]))


# --- writes -----------------------------------------------------------------------------------------


def write(low: Lowering, node: Write) -> None:
    """`self.hits[...] += 1`"""
    path, value = dotted_read(node.target), node.value
    same = isinstance(value, Binary) and isinstance(value.left, Read)
    augmented = same and path is not None and dotted_read(value.left) == path  # type: ignore[attr-defined]
    put = (
        isinstance(value, Put) and isinstance(value.base, Read) and dotted_read(value.base) == path
    )
    placed = put and (value.how == "set" or value.how in IN_PLACE)  # type: ignore[attr-defined]

    def edit(node: Write) -> None:
        target = Attribute(node.target.object, node.target.name)
        value: Any = node.value
        made: Assign
        if augmented:
            made = Assign([whole(target)], _detached(node, value.right), value.operator)
        elif placed:
            operator = IN_PLACE.get(value.how, "")
            made = Assign([Subscript(target, value.index)], _detached(node, value.new), operator)
        else:
            made = Assign([whole(target)], _detached(node, value))
        node.replace(made)

    if placed:
        low.skipped.add(value)
    low.edits.change(node, edit)


def _detached(node: Write, value: Expression) -> Expression:
    if not node.detached:
        return value
    return Call(Attribute(Name("lax"), "stop_gradient"), [value])


def tie(low: Lowering, node: Tie) -> None:
    """One array has one owner: the other side has None in its place, and reads the owner's."""
    low.edits.change(
        node,
        lambda n: n.replace(
            Assign([Attribute(clone(n.target.object), n.target.name)], Constant(None))
        ),
    )


def _is_none(value: Expression | None) -> bool:
    return isinstance(value, Constant) and value.constant is None
