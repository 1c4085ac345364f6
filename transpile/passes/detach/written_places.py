"""What a block without gradient writes: where it is, whether it is seen outside, what history it
has.
"""

from __future__ import annotations

from ...facts.values import lattice
from ...facts.values.lattice import Tensor
from ...model.expressions import Attribute, Call, Display, Name, Starred, Subscript
from ...model.names import is_data
from ...model.node import Expression
from .constants import Within


class Places:
    """Questions about the places that one block writes."""

    def __init__(self, within: Within) -> None:
        self.within = within

    def root(self, node: Expression) -> Expression:
        """The name or attribute whose memory is written: of `x.mul_(a).add_(b)`,
        `x.view(-1).fill_(0)`.
        """
        while True:
            if isinstance(node, Subscript) or is_data(node):
                node = node.object
            elif isinstance(node, Call) and isinstance(node.function, Attribute):
                if not isinstance(node.function.value, lattice.Method):
                    return node
                node = node.function.object
            else:
                return node

    def leaves(self, target: Expression) -> bool:
        """Whether what is written here is read after the block."""
        if isinstance(target, Display):
            return any(map(self.leaves, target.elements))
        if isinstance(target, Starred):
            return self.leaves(target.expression)
        root = self.root(target)
        if isinstance(root, Attribute) or root is not target and not self.is_tensor(root):
            return self.holds(root)
        return isinstance(root, Name) and root.id in self.within.live

    def is_seen(self, subject: Expression) -> bool:
        """Whether a write in place is seen after the block, under this name or another."""
        return any(map(self.leaves, [subject, *self.sources(self.root(subject))]))

    def sources(self, root: Expression) -> list[Expression]:
        """The memory that a name is another one for, or a view of: `w = self.fc.weight`,
        `v = h[0]`."""
        found, todo, seen = list[Expression](), [root], set[str]()
        while todo:
            node = todo.pop()
            if isinstance(node, Name) and node.id not in seen:
                seen.add(node.id)
                given = filter(self._is_place, self.within.named.get(node.id, []))
                todo += (roots := [self.root(g) for g in given])
                found += roots
        return found

    def _is_place(self, node: Expression) -> bool:
        """`h`, `self.fc.weight`, `h.view(-1)[0]`"""
        views = self.within.facts.rulebook.table("VIEWS")
        while isinstance(node, (Attribute, Call, Subscript)):
            if isinstance(node, Call):
                if not isinstance(node.function, Attribute) or node.function.name not in views:
                    return False
                node = node.function
            node = node.object
        return isinstance(node, Name)

    def holds(self, holder: Expression) -> bool:
        """Whether what holds a value outlives the block: it is read later, or may have another
        name.
        """
        root = holder
        while isinstance(root, Attribute):
            root = root.object
        outside = not isinstance(root, Name) or root.id in self.within.live
        return outside or root.id not in self.within.fresh  # type: ignore[attr-defined]

    def has_history(self, root: Expression) -> bool:
        """Whether a tensor has a gradient from outside the block: what the block made has none."""
        return any(map(self._has_own_history, [root, *self.sources(root)]))

    def _has_own_history(self, root: Expression) -> bool:
        own = isinstance(root, Name) and root.id in self.within.own
        return (
            self.is_tensor(root)
            and not own
            and self.within.facts.activity.history(root, self.within.flag is None) is not False
        )

    def is_undecided(self, subject: Expression) -> bool:
        """Whether a flag decides if a write to this becomes part of its gradient."""
        return self.within.flag is not None and self.has_history(self.root(subject))

    def is_tensor(self, node: Expression) -> bool:
        return isinstance(node.value, Tensor)

    def of_data(self, subject: Expression) -> None:
        """Write by way of `.data` what may carry a gradient from outside."""
        root = self.root(subject)
        if self.has_history(root) and not _through_data(subject):
            self.within.changes.wrap(root, _data)


def _data(node: Expression) -> Attribute:
    made = Attribute(node, "data")
    made.value = Tensor()
    return made


def _through_data(node: Expression) -> bool:
    while not isinstance(node, Name):
        if is_data(node):
            return True
        if isinstance(node, (Subscript, Attribute)):
            node = node.object
        elif isinstance(node, Call):
            node = node.function
        else:
            return False
    return False
