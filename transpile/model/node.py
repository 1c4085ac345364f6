"""What all nodes of the program have: a parent, a place in the user's text, and the ways to edit
them.

A node's own text is `file.text[start:end]`; it fills a *slot* of its parent's text. As long as
nothing below a node was edited its text is the user's, to the byte; where something was, the new
text of the parts is put into their slots (`source/splice.py`). A node without an origin (`start <
0`), or one that was restated, is rendered.

Plain assignment to a field is invisible to splicing: after lowering nodes are edited by the methods
here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

if TYPE_CHECKING:
    from .program import File

N = TypeVar("N", bound="Node")
NOWHERE = -1
INSERTED = (NOWHERE, NOWHERE)  # the slot of what has no place in its parent's text


class Span(NamedTuple):
    """A stretch of a file's text."""

    file: File
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.file.text[self.start : self.end]


class Node:
    """A part of a program. `parts` names the fields that hold nodes, in the order of the source."""

    __slots__ = (
        "parent",
        "file",
        "start",
        "end",
        "enclosed",
        "slot",
        "patches",
        "touched",
        "comments",
    )
    parts: ClassVar[tuple[str, ...]] = ()

    parent: Node | None
    file: File | None
    start: int
    end: int
    enclosed: tuple[int, int] | None  # the span with the parentheses around it, where it has any
    slot: tuple[int, int] | None  # what it fills in its parent's text; None for its own place
    patches: list[tuple[int, int, str]] | None  # words of its own text, no parts, that changed
    touched: bool  # whether its text is no longer the user's
    comments: (
        tuple[str, str] | None
    )  # of a statement that moved: the lines above it, the comment behind it

    def __init__(self) -> None:
        self.parent = self.file = self.enclosed = self.slot = self.patches = self.comments = None
        self.start = self.end = NOWHERE
        self.touched = False

    # --- reading ---------------------------------------------------------------------------------

    @property
    def origin(self) -> Span | None:
        """The text that it came from; None for what a pass made."""
        return (
            None if self.start < 0 or self.file is None else Span(self.file, self.start, self.end)
        )

    def children(self) -> list[Node]:
        """The nodes right below, in the order of the source."""
        found: list[Node] = []
        for name in self.parts:
            part = getattr(self, name)
            if part.__class__ is list:
                found += part
            elif part is not None:
                found.append(part)
        return found

    def walk(self, apart: tuple[type[Node], ...] = ()) -> Iterator[Node]:
        """This node and everything below it, outer before inner, in the order of the source; not
        what is below nodes of the classes `apart`."""
        stack = [self]
        pop, extend = stack.pop, stack.extend
        while stack:
            node = pop()
            yield node
            if node.parts and not (apart and isinstance(node, apart)):
                below = node.children()
                below.reverse()
                extend(below)

    def ancestors(self) -> Iterator[Node]:
        """The nodes around this one, inner before outer."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def nearest(self, *kinds: type[N]) -> N | None:
        """The innermost node around this one that is of one of these classes."""
        return next((node for node in self.ancestors() if isinstance(node, kinds)), None)

    # --- editing ---------------------------------------------------------------------------------

    def adopt(self) -> Self:
        """Become the parent of its parts: every constructor ends with this."""
        for child in self.children():
            child.parent = self
        return self

    def touch(self) -> None:
        """Say that the text of this node, and so of all around it, is no longer the user's."""
        for node, own in self._outwards():
            node.touched = True
            node.changed(own)

    def tell_around(self) -> None:
        """Say to this node and all around it that something has changed here."""
        for node, own in self._outwards():
            node.changed(own)

    def _outwards(self) -> Iterator[tuple[Node, bool]]:
        """This node and all around it, each with whether this one stands in its scope."""
        below: Node | None = None
        node: Node | None = self
        own = True
        while node is not None:
            yield node, own
            own = own and not (below is not None and node.runs_apart(below))
            below, node = node, node.parent

    def runs_apart(self, part: Node) -> bool:
        """Whether a part of it belongs to another scope than what stands around this node."""
        return False

    def changed(self, own: bool) -> None:
        """What a node does when something below it has changed: those that keep indices drop
        them. `own`: it stands in the scope that this node is, or is in."""

    def place(self) -> tuple[int, int] | None:
        """What it fills in its parent's text, with its parentheses; None where it has no place
        there."""
        if self.slot is not None or self.start < 0:
            return self.slot
        return self.enclosed or (self.start, self.end)

    def replace(self, new: Node) -> None:
        """Put another node in its place; the other inherits what is known of its value."""
        parent, place = self.parent, self.place()
        assert parent is not None, "the root of a program is not replaced"
        if new.origin is not None and new.origin == self.origin:
            place = self.slot  # its equal: it stands where it came from
        self._exchange(parent, new, place)

    def wrap(self, make: Callable[[Self], Node]) -> Node:
        """Put a node in its place that holds it: `x.wrap(lambda x: Call(f, [x]))`."""
        parent, place = self.parent, self.place()
        assert parent is not None
        new = make(self)
        self._exchange(parent, new, place)
        self.slot = None
        return new

    def become(self, new: Node) -> None:
        """Be a node of another kind from now on, of the same parts at the same places in the
        same text."""
        parent, slot = self.parent, self.slot
        assert parent is not None
        new.file, new.start, new.end, new.enclosed = self.file, self.start, self.end, self.enclosed
        new.patches, new.touched = self.patches, self.touched
        parent._put(self, new)
        new.slot = slot
        new.inherit(self)
        parent.tell_around()

    def restate(self) -> None:
        """Forget its own text: it is rendered anew from its parts, which keep theirs."""
        if self.slot is None and self.start >= 0:
            self.slot = self.enclosed or (self.start, self.end)
        self.start = self.end = NOWHERE
        self.enclosed = self.patches = None
        self.touch()

    def patch(self, start: int, end: int, text: str) -> None:
        """Change words of its own text that no part fills: the name of an attribute, an
        operator."""
        if self.start >= 0:
            self.patches = [*(self.patches or ()), (start, end, text)]
        self.touch()

    def reword(self, start: int, end: int, text: str) -> None:
        """Change a word that may have changed before, `t_` to `t` to `T`: it begins where it did
        in the user's text, and only the last change counts."""
        before = [p for p in self.patches or () if p[1] == end]
        self.patches = [p for p in self.patches or () if p[1] != end]
        self.patch(before[0][0] if before else start, end, text)

    def inherit(self, old: Node) -> None:
        """Take over what is known of another node."""

    def _exchange(self, parent: Node, new: Node, place: tuple[int, int] | None) -> None:
        parent._put(self, new)
        new.slot = place if parent.start >= 0 else None
        if new is not self:
            new.inherit(self)
        parent.touch()

    def _put(self, old: Node, new: Node) -> None:
        """Put a node into the field, or the place of a list, where another one stands."""
        new.parent = self
        for name in self.parts:
            part = getattr(self, name)
            if part is old:
                setattr(self, name, new)
                return
            if part.__class__ is list:
                for i, item in enumerate(part):
                    if item is old:
                        part[i] = new
                        return
        raise LookupError(f"{old!r} is no part of {self!r}")

    def __repr__(self) -> str:
        if self.file is not None and self.start >= 0:
            text = self.file.text[self.start : self.end].partition("\n")[0]
            return f"<{type(self).__name__} {text[:60]!r}>"
        return f"<{type(self).__name__} made>"


class Expression(Node):
    """What has a value. `value` is the fact of what it may be; None where nothing was asked yet."""

    __slots__ = ("value",)
    value: Any

    def __init__(self) -> None:
        super().__init__()
        self.value = None

    def inherit(self, old: Node) -> None:
        if self.value is None and isinstance(old, Expression):
            self.value = old.value


class Statement(Node):
    """What is run. The comments above and behind it stand in the text of its block, between the
    statements."""

    __slots__ = ()
