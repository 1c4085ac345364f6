"""Whether the modules of a container are one function of their params: of one class, with equal
hyperparameters.

They are where one construction makes all of them, which does not depend on the turn:

    self.blocks = ModuleList([Block(dim) for _ in range(n)])
    for _ in range(n): self.blocks.append(Block(dim))
    for _ in range(n): made.append(Block(dim))         self.blocks = Sequential(*made)

and nothing else is put among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..model.effects import Apply, Declare, New
from ..model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Display,
    Name,
    NamedExpression,
    Starred,
    Subscript,
)
from ..model.names import below, dotted, names_assigned, target_names
from ..model.node import Expression, Node
from ..model.program import Class, Function
from ..model.statements import Assign, Delete, For, While

if TYPE_CHECKING:
    from .modules import Modules


def are_equal(modules: Modules, layers: Expression) -> bool | None:
    """Whether all modules of `self.blocks`, or `self.parts["blocks"]`, are equal but for their
    params; None where that is not known."""
    cls = layers.nearest(Class)
    name, words = _path(layers)
    if cls is None or name is None:
        return None
    held = modules.fields(cls).get(name)
    if held is None or not any(isinstance(value, New) for value in held.values):
        return None
    lineage = [(modules.home(one), one) for one in modules.lineage(cls)]
    methods = [m for home, one in lineage for m in home.methods(one).values()]
    appended = [call for method in methods for call in _appends(method, name)]
    if any(_changes(method, name, appended) for method in methods):
        return None
    if appended:
        empty = all(_is_empty(value) or _is_named(value, name) for value in _contents(held.values))
        return _is_of_turns(appended[0]) if len(appended) == 1 and empty and not words else None
    made = _entry(held.values[0], words) if len(held.values) == 1 else None
    if not isinstance(made, New) or len(made.arguments) != 1:
        return None
    given = made.arguments[0]
    given = given.expression if isinstance(given, Starred) else given
    return _is_of_list(given) if isinstance(given, Name) else _is_of_equals(given)


def _path(layers: Expression) -> tuple[str | None, list[str]]:
    """The attribute of `self` that layers are kept in, and the names that lead to them in it."""
    words: list[str] = []
    node = layers
    while True:
        if isinstance(node, Attribute) and isinstance(node.object, Name):
            return node.name, words
        if isinstance(node, Attribute):
            words, node = [node.name, *words], node.object
        elif isinstance(node, Subscript) and isinstance(node.index, Constant):
            words, node = [str(node.index.constant), *words], node.object
        else:
            return None, words


def _entry(value: Expression, words: Sequence[str]) -> Expression | None:
    """What stands under names in `ModuleDict(dict(blocks=…))`."""
    for word in words:
        if not isinstance(value, New) or len(value.arguments) != 1:
            return None
        entries = dict(_entries(value.arguments[0]))
        if word not in entries:
            return None
        value = entries[word]
    return value


def _entries(made: Expression) -> Iterator[tuple[str, Expression]]:
    if isinstance(made, Dictionary):
        for key, value in zip(made.entries[::2], made.entries[1::2]):
            if isinstance(key, Constant) and value is not None:
                yield str(key.constant), value
    elif isinstance(made, Call) and dotted(made.function) == "dict":
        yield from ((k, v) for k, v in zip(made.keywords, made.arguments) if k is not None)


def _contents(values: Sequence[Expression]) -> Iterator[Expression]:
    """What containers are made of: `[]` of `[]`, `self.blocks` of `ModuleList(self.blocks)`."""
    for value in values:
        if isinstance(value, New) and len(value.arguments) == 1:
            yield value.arguments[0]
        else:
            yield value


def _is_empty(value: Expression) -> bool:
    if isinstance(value, New):
        return not value.arguments
    return isinstance(value, Display) and not value.elements


def _is_of_equals(made: Expression) -> bool | None:
    """Of a comprehension: whether its element is the same in each turn."""
    if not isinstance(made, Comprehension) or made.kind == "dict" or len(made.clauses) != 1:
        return None
    if not isinstance(made.element, New):
        return None
    return _is_constant(made.element, set(target_names(made.clauses[0].target)))


def _is_of_list(listed: Name) -> bool | None:
    """Of a local list: whether it is filled with equals, and nothing else becomes of it."""
    method = listed.nearest(Function)
    uses = [n for n in method.nodes(Name) if n.id == listed.id] if method is not None else []
    begun = [n.parent for n in uses if isinstance(n.parent, Assign) and n in n.parent.targets]
    others = [n for n in uses if n.parent not in begun and n is not listed]
    appended = [call for n in others if (call := _appending(n.parent)) is not None]
    if len(begun) != 1 or len(begun[0].targets) != 1 or len(appended) < len(others):
        return None
    value = begun[0].expression
    if not appended:
        return _is_of_equals(value) if value is not None else None
    empty = isinstance(value, Display) and not value.elements
    return _is_of_turns(appended[0]) if empty and len(appended) == 1 else None


def _appending(function: Node | None) -> Call | None:
    """The call of `xs.append`, where this is one."""
    if not isinstance(function, Attribute) or function.name != "append":
        return None
    call = function.parent
    return call if isinstance(call, Call) and len(call.arguments) == 1 else None


def _is_of_turns(appended: Call) -> bool | None:
    """Of `blocks.append(Block(dim))`: whether one loop makes them all, each in the same way."""
    around = [n for n in appended.ancestors() if isinstance(n, (For, While, Function))]
    loop = around[0]
    if not isinstance(loop, For) or not isinstance(around[1], Function):
        return None
    if around[1].name != "__init__" or not isinstance(appended.arguments[0], New):
        return None
    return _is_constant(appended.arguments[0], {*target_names(loop.target), *names_assigned(loop)})


def _is_constant(made: New, changing: set[str]) -> bool | None:
    for node in below(made, Name, Call, Apply, NamedExpression):
        if isinstance(node, Name):
            if node.id in changing:
                return False
        else:  # `drops.pop()` may give another one in each turn
            return None
    return True


def _appends(method: Function, name: str) -> Iterator[Call]:
    for node in method.nodes(Attribute):
        if (call := _appending(node)) is not None and _is_named(node.object, name):
            yield call


def _changes(method: Function, name: str, appended: Sequence[Call]) -> bool:
    """Whether a method puts something else into a container of this name."""
    stores: list[Assign | Delete] = [*method.nodes(Assign), *method.nodes(Delete)]
    for store in stores:
        for target in store.targets:
            if isinstance(target, Subscript) and _holds(target.object, name):
                return True
            if isinstance(store, Declare) or not isinstance(target, Attribute):
                continue
            if _holds(target.object, name):
                return True
    if any(_sets(loop, name) for loop in method.nodes(For)):
        return True
    words = ("append", "extend", "insert", "add_module", "update", "__setitem__")
    found = [n for n in method.nodes(Attribute) if n.name in words and _holds(n.object, name)]
    return any(n.parent not in appended for n in found)


def _sets(loop: For, name: str) -> bool:
    """Whether a loop over the container sets something on each: `block.drop = i / n`."""
    if not _holds(loop.iterable, name):
        return False
    turn = target_names(loop.target)
    targets = (t for n in loop.body.walk() if isinstance(n, Assign) for t in n.targets)
    fields = (t.object for t in targets if isinstance(t, Attribute))
    return any(isinstance(n, Name) and n.id in turn for field in fields for n in field.walk())


def _holds(node: Node, name: str) -> bool:
    return any(_is_named(n, name) for n in node.walk())


def _is_named(node: Node, name: str) -> bool:
    return isinstance(node, Attribute) and node.name == name
