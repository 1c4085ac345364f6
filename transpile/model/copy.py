"""Copies of parts of a program: equal nodes, with the same text, that stand nowhere yet."""

from collections.abc import Callable
from typing import Any, TypeVar

from .carry import Carry
from .expressions import Call
from .node import Expression, Node

N = TypeVar("N", bound=Node)
Change = Node | list[Expression] | None


def clone(node: N) -> N:
    """A copy of a node and of all below it."""
    made = _without_parts(node)
    for name in node.parts:
        part = getattr(node, name)
        if part.__class__ is list:
            setattr(made, name, [None if p is None else clone(p) for p in part])
        elif part is not None:
            setattr(made, name, clone(part))
    made.adopt()
    return made  # type: ignore[no-any-return]


def moved_copy(node: N) -> N:
    """A copy that stands elsewhere: it has no place in the text of what is around it."""
    made = clone(node)
    made.slot = None
    return made


def rebuilt(node: Expression, change: Callable[[Node], Change]) -> Expression:
    """A copy of an expression with other nodes in the place of some: None of `change` goes on below
    a node.

    A list stands for several: in the place of `*sizes` among the arguments of a call.
    """
    found = _rebuilt(node, change, set())
    assert isinstance(found, Expression)
    return found


def _rebuilt(
    node: Node, change: Callable[[Node], Change], others: set[Node]
) -> Node | list[Expression]:
    found = change(node)
    if found is not None:
        others.update(found if isinstance(found, list) else [found])
        return found
    made = _without_parts(node)
    if isinstance(node, Call):
        made.keywords = []
    for name in node.parts:
        part = getattr(node, name)
        if part.__class__ is not list:
            setattr(made, name, None if part is None else _rebuilt(part, change, others))
            continue
        parts: list[Node | None] = []
        for i, item in enumerate(part):
            new = None if item is None else _rebuilt(item, change, others)
            several = new if isinstance(new, list) else [new]
            parts += several
            if isinstance(node, Call):
                made.keywords += [node.keywords[i]] * len(several)
        setattr(made, name, parts)
    made.adopt()
    _noted(made, others)
    return made  # type: ignore[no-any-return]


def _noted(made: Node, others: set[Node]) -> None:
    """Let a copy of which some parts are others have no text of its own any more."""
    parts = made.children()
    if any(part in others for part in parts):
        made.restate()
    elif any(part.touched for part in parts):
        made.touched = True


def _without_parts(node: Node) -> Any:
    """A copy of a node alone, with lists of its own where a node may change them, as the keywords
    of a call."""
    made: Any = object.__new__(node.__class__)
    for name in _slots(node.__class__):
        value = getattr(node, name)
        own = value.__class__ is list or value.__class__ is Carry
        setattr(made, name, value.copy() if own else value)
    made.parent = None
    return made


_SLOTS: dict[type, list[str]] = {}  # the fields of each class of nodes


def _slots(kind: type) -> list[str]:
    if kind not in _SLOTS:
        bases = kind.__mro__
        _SLOTS[kind] = [name for base in bases for name in getattr(base, "__slots__", ())]
    return _SLOTS[kind]
