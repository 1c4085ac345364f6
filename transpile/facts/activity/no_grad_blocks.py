"""One block without gradient: which names it computes itself, and which are what was there
before.
"""

from collections.abc import Set

from ...model.expressions import Call, Lambda
from ...model.names import target_names
from ...model.node import Expression
from ...model.program import Class, Function
from ...model.statements import Assign, For, With
from ..bindings import read
from ..values import lattice
from ..values.lattice import Tensor, Value
from .new_or_existing import COMPUTED, SAME, Identity


def may_carry(value: Value | None) -> bool:
    """Whether a value may be, or hold, a tensor with a gradient."""
    if isinstance(value, Tensor):
        return value.kind not in ("i", "b", "u") and value.number is not True
    if isinstance(value, lattice.Sequence):
        if value.items is not None:
            return any(map(may_carry, value.items))
        return may_carry(value.element)
    if isinstance(value, lattice.Mapping):
        return may_carry(value.element)
    plain = lattice.Static, lattice.Module, lattice.Torch, lattice.External, lattice.Package
    return not isinstance(value, plain)


_APART = (Function, Class, Lambda)  # what is inside runs where it is called


class Off:
    """A block without gradient. `own`: names for what it computes itself."""

    def __init__(self, node: With | Function, identity: Identity) -> None:
        self.node, self.body, self.identity = node, node.body, identity
        self.own = self._own()
        self.mixed = self._mixed()

    def assigns(self, node: Assign, own: Set[str] | None = None) -> str:
        """What an assignment gives its names."""
        return self.identity.assigned(node, dict.fromkeys(own or self.own, COMPUTED))

    def gives(self, node: Expression, own: Set[str] | None = None) -> str:
        """Whether an expression gives what was there before the block, or something computed in
        it.
        """
        return self.identity.of(node, dict.fromkeys(self.own if own is None else own, COMPUTED))

    def computes(self, over: Expression, own: Set[str] | None = None) -> bool:
        """Whether what a loop goes over is computed in the block: `for y in f(x)`,
        `for i, y in enumerate(ys)` with ys its own.
        """
        own = self.own if own is None else own
        called = any(
            isinstance(call.function.value, (lattice.Function, lattice.Module))
            for call in over.walk()
            if isinstance(call, Call)
        )
        given = over.arguments if isinstance(over, Call) else []
        rows = any(isinstance(n.value, Tensor) for n in (over, *given))
        return may_carry(over.value) and (called or rows or bool(own & set(read(over))))

    def assigned(self) -> set[str]:
        """The names that assignments of the block bind."""
        found = (n for n in self.body.walk(_APART) if isinstance(n, Assign))
        return {name for node in found for t in node.targets for name in target_names(t)}

    def _own(self) -> set[str]:
        """Names that a block makes itself: `y = f(x)` and `z = y.sample`, but not `y = x`, which
        is x.
        """
        found: set[str] = set()
        nodes = [n for n in self.body.walk(_APART) if isinstance(n, (Assign, For))]
        while True:
            before = len(found)
            for node in nodes:
                if isinstance(node, For):
                    if self.computes(node.iterable, found):
                        found |= set(target_names(node.target))
                elif node.expression is not None and not node.operator:
                    if self.identity.assigned(node, dict.fromkeys(found, COMPUTED)) != SAME:
                        found |= {name for t in node.targets for name in target_names(t)}
            if len(found) == before:
                return found

    def _mixed(self) -> set[str]:
        """Names of the block that may also stand for what was there before: `u = t`,
        `if n == 3: u = u * 2`. They are constant from where they are computed.
        """
        found: dict[str, set[str]] = {}
        for node in self.body.walk(_APART):
            if isinstance(node, Assign) and node.expression is not None and not node.operator:
                for name in (n for t in node.targets for n in target_names(t)):
                    found.setdefault(name, set()).add(self.assigns(node))
        return {name for name in self.own if found.get(name, {COMPUTED}) != {COMPUTED}}
