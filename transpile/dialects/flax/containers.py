"""Lists and dicts of submodules, which NNX has to be told of.

self.stacks = []                         self.stacks = nnx.List()
self.stacks.append([fc, norm])           self.stacks.append(nnx.List([fc, norm]))
self.tail = self.layers[1:]              self.tail = nnx.List(self.layers[1:])
del self.layers[-1]                      nn.taken_out(self.layers, -1)
"""

from functools import partial

from ...facts.values.lattice import Mapping, Module, Sequence, Value
from ...model.effects import New, Support
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Dictionary,
    Display,
    Name,
    Slice,
    Starred,
    Subscript,
)
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Binary, sides
from ...model.program import Class
from ...model.statements import Assign, Delete, ExpressionStatement
from ..sharing.list_growth import added, grown, holds_modules, is_part_of_list, is_trained
from .lowering import Lowering, nnx


def tell(value: Expression) -> None:
    """Lists and dicts of submodules are told to NNX."""
    for leaf in sides(value):
        plain = not isinstance(leaf, New)  # a submodule's own list or dict
        listed = isinstance(leaf, (Display, Comprehension)) and leaf.kind in ("list", "tuple")
        listed = listed or is_part_of_list(leaf) or plain and isinstance(leaf.value, Sequence)
        keyed = isinstance(leaf, Dictionary) or getattr(leaf, "kind", "") == "dict"
        keyed = keyed or plain and isinstance(leaf.value, Mapping)
        if listed or keyed:
            for inside in _items(leaf):
                tell(inside)
            word = nnx("List") if listed else Support("ModuleDict")
            empty = isinstance(leaf, Display) and not leaf.elements
            leaf.wrap(lambda leaf, w=word, e=empty: Call(w, [] if e else [leaf]))  # type: ignore[misc]


def _items(value: Expression) -> list[Expression]:
    """The lists in a list that have modules."""
    if isinstance(value, Binary):
        return [*_items(value.left), *_items(value.right)]
    items = value.elements if isinstance(value, Display) else []
    if isinstance(value, Comprehension):
        items = [value.element]
    if isinstance(value, Dictionary):
        items = [entry for key, entry in value.pairs if key is not None]
    return [e for e in items if isinstance(e.value, Sequence) and holds_modules(e.value)]


def joined(low: Lowering, node: Binary) -> None:
    """`self.encoder + self.decoder` of two lists of modules, which NNX does not add."""
    if node.operator == "+" and (_is_list(node.left.value) or _is_list(node.right.value)):
        low.edits.replace(node, lambda n: Display("list", [*_spread(n.left), *_spread(n.right)]))


def taken_out(low: Lowering, node: Delete | Call) -> None:
    """`del layers[0]`, `layers.pop(0)`: what NNX's own leaves behind counts among the modules."""
    item = node.targets[0] if isinstance(node, Delete) else node.function
    one = isinstance(item, Subscript) and not isinstance(item.index, Slice)
    deletes = isinstance(node, Delete) and one and len(node.targets) == 1
    pops = isinstance(node, Call) and isinstance(item, Attribute) and item.name == "pop"
    if (deletes or pops) and _is_list(item.object.value):  # type: ignore[attr-defined]
        low.edits.replace(node, partial(_taken_out, low.support("taken_out")))


def _taken_out(function: Expression, node: Node) -> Node:
    if isinstance(node, Call):
        holder = node.function.object  # type: ignore[attr-defined]
        return Call(function, [holder, *node.arguments], [None, *node.keywords])
    item = node.targets[0]  # type: ignore[attr-defined]
    return ExpressionStatement(Call(function, [item.object, item.index]))


def _spread(side: Expression) -> list[Expression]:
    written = isinstance(side, Display) and side.kind == "list"
    return side.elements if written else [Starred(side)]  # type: ignore[attr-defined]


def _is_list(value: Value | None) -> bool:
    return isinstance(value, Module) and set(value.refs) == {"torch.nn.ModuleList"}


def keeps_modules(low: Lowering, node: Assign, cls: Class) -> bool:
    """Whether a plain list of Python's has modules, or is given some: `self.fcs.append(fc)`."""
    kept = [t for t in node.targets if isinstance(t, Attribute)]  # no name of the constructor's own
    if kept and holds_modules(node.expression.value):  # type: ignore[union-attr]
        return True
    methods = low.plan.modules.home(cls).methods(cls).values()
    paths = [path for t in kept if (path := dotted(t)) is not None]
    more = [e for m in methods for path in paths for s in grown(m, path) for e in added(s)]
    lists = [e for e in more if isinstance(e.value, Sequence) and holds_modules(e.value)]
    for one in lists:
        if _is_item(one):
            low.edits.wrap(one, _as_list)
        elif isinstance(one.value.element, Sequence):
            _tell_items(low, one)
    return bool(lists) or any(is_trained(e.value) for e in more)


def _tell_items(low: Lowering, several: Expression) -> None:
    """`stacks += [[fc] for fc in fcs]`: the lists that become items."""
    if isinstance(several, Comprehension):
        low.edits.wrap(several.element, _as_list)
    else:
        low.edits.wrap(several, lambda v: Call(Name("map"), [nnx("List"), v]))


def _as_list(several: Expression) -> Expression:
    return Call(nnx("List"), [several])


def _is_item(value: Expression) -> bool:
    """Whether it becomes an item of a list that grows, not more of its items."""
    call = value.parent
    word = getattr(call.function, "name", "") if isinstance(call, Call) else ""
    return isinstance(call, Display) or word in ("append", "insert")
