"""What a block under control of data does beside computing: what cannot be undone where the other
side is taken, or done once for each turn."""

from collections.abc import Iterator, Set
from typing import NamedTuple

from ...model.effects import Apply, Support, Unconverted
from ...model.expressions import Attribute, Call, Lambda, Name, OpaqueExpression, Subscript
from ...model.names import dotted, in_scope, leaves, text
from ...model.node import Expression, Node
from ...model.program import Class, Function
from ...model.statements import Assign, Block, Declaration, Delete, ExpressionStatement, Return
from ..bindings import read
from ..effects import EffectsOf
from ..values import lattice
from ..values.lattice import CLOSED_LAMBDA, FUNCTION, LAMBDA, Tensor, Torch, Value
from .inputs_and_outputs import Carrying

GROWING = frozenset("append extend insert pop remove clear update setdefault add discard".split())
SAYS = ("jax.debug.print", "jax.debug.callback")  # which know their place
_NUMBERS = frozenset("jnp.pi jnp.e jnp.inf jnp.nan jnp.newaxis np.pi np.inf np.nan".split())
_LIBRARIES = ("jnp.", "jax.", "lax.")


class Obstacle(NamedTuple):
    """Why a block cannot be carried; `keep` where it stays as Python's, which runs outside jit."""

    node: Node
    why: str
    keep: bool = False


class Obstacles:
    """What cannot be carried of the blocks of one function.

    `where` is how messages call the place; `unharmed` are the values whose methods, called like
    those of a list, change nothing; `host(node)` says what code does to the host, in words.
    """

    def __init__(
        self, carrying: Carrying, where: str, unharmed: tuple[type[Value], ...], effects: EffectsOf
    ) -> None:
        self.carrying, self.where, self.unharmed = carrying, where, unharmed
        self.effects = effects
        self.skipped: set[Node] = set()  # what the pass sees to itself

    def of_block(self, block: Block, own: Set[str]) -> Iterator[Obstacle]:
        """What a block does; `own` are the names that it makes itself."""
        where = self.where
        done = self.effects.host(block, self.skipped)
        if done is not None:
            yield Obstacle(block, f"{done} {where}", True)
        for node in in_scope(block, *_KINDS):
            if node in self.skipped:
                continue
            if isinstance(node, (OpaqueExpression, Declaration, Delete)):
                yield Obstacle(node, f"a statement {where} that has no counterpart in a function")
            elif isinstance(node, Assign):
                yield from self._stores(node, own)
            elif isinstance(node, ExpressionStatement):
                yield from self._done(node)
            elif isinstance(node, Call) and isinstance(node.function, Attribute):
                holder = node.function.object
                grows = node.function.name in GROWING and isinstance(holder, Name)
                if grows and holder.id not in own and not self._is_unharmed(holder):  # type: ignore[attr-defined]
                    why = f"the list or dict {holder.id} changes {where}"  # type: ignore[attr-defined]
                    yield Obstacle(node, why)

    def _done(self, node: ExpressionStatement) -> Iterator[Obstacle]:
        """A statement that is there for its effect alone."""
        call, where = node.expression, self.where
        if isinstance(call, Unconverted):
            yield Obstacle(node, f"what could not be converted stands {where}", True)
        if not isinstance(call, Call):
            return
        grown = self._grown_outside(call)
        if grown is not None:
            yield Obstacle(node, f"the list or dict {grown} changes {where}", True)
        elif isinstance(call, Apply) and self._only_writes(call):
            return
        elif dotted(call.function) not in SAYS and not _grows(call):
            name = dotted(call.function) or "something"
            yield Obstacle(node, f"{name} is called for its effect {where}", True)

    def _only_writes(self, call: Apply) -> bool:
        """Whether a call is there for what it writes into modules: that is carried."""
        done = self.effects.of_call(call)
        return bool(done.writes) and not done.open and not any("?" in w for w in done.writes)

    def _stores(self, node: Assign, own: Set[str]) -> Iterator[Obstacle]:
        for target in (leaf for t in node.targets for leaf in leaves(t)):
            if isinstance(target, Attribute):
                yield Obstacle(node, f"an attribute is set {self.where}")
            kept = self._kept_outside(target, own)
            if kept is not None:
                yield Obstacle(node, f"the list or dict {kept} changes {self.where}", True)

    def _kept_outside(self, target: Expression, own: Set[str]) -> str | None:
        """What a store goes into, where others see it beside those that get what is carried:
        `found["loss"] = 0` of an argument."""
        if not isinstance(target, Subscript):
            return None
        base: Expression = target
        while isinstance(base, Subscript):
            base = base.object
        if isinstance(base, Attribute):
            return text(base)
        if not isinstance(base, Name) or base.id in own:
            return None
        function = self.carrying.function
        inside = {dotted(s) for n in function.nodes(Assign) for t in n.targets for s in leaves(t)}
        seen = base.id not in inside or base.id in {p.name for p in function.parameters}
        return base.id if seen and not self._is_returned(base.id) else None

    def _is_returned(self, name: str) -> bool:
        return any(name in read(node) for node in self.carrying.function.nodes(Return))

    def _grown_outside(self, call: Call) -> str | None:
        """What a statement changes that an attribute holds, or that is only taken for an array:
        those have no `append`."""
        if not _grows(call) or call.function.name == "add":  # type: ignore[attr-defined]
            return None
        holder = call.function.object  # type: ignore[attr-defined]
        value = holder.value
        seen = isinstance(holder, Attribute) and not self._is_unharmed(holder)
        taken = isinstance(value, Tensor) and value.assumed
        return text(holder) if seen or taken else None

    def _is_unharmed(self, holder: Expression) -> bool:
        return isinstance(holder.value, self.unharmed)

    # --- what is no array ------------------------------------------------------------------------

    def functions(self, block: Block, live: Set[str]) -> Iterator[Obstacle]:
        """Functions and classes that are made in a block and used after it."""
        made: list[Function | Class] = [*in_scope(block, Function), *in_scope(block, Class)]
        for node in made:
            if node.name in live:
                yield Obstacle(node, f"{node.name} is defined {self.where}")
        for assign in in_scope(block, Assign):
            if assign.expression is not None and _is_function(assign.expression):
                names = [t.id for t in assign.targets if isinstance(t, Name) and t.id in live]
                if names:
                    yield Obstacle(assign, f"{names[0]} becomes another function {self.where}")

    def changed(self, node: Node, made: Set[str]) -> Iterator[Obstacle]:
        """A function of the one around is used that reads what the statement binds: that becomes
        a name of its own."""
        through = self.carrying.through
        for name in read(node) if through else ():
            for seen in sorted(made & through.get(name, frozenset())):
                why = f"{name} reads {seen}, and is used {self.where}, where {seen} changes"
                yield Obstacle(node, why)


_KINDS: tuple[type[Node], ...] = (
    OpaqueExpression,
    Declaration,
    Delete,
    Assign,
    ExpressionStatement,
    Call,
    Apply,
)


def _grows(call: Call) -> bool:
    return isinstance(call.function, Attribute) and call.function.name in GROWING


def _is_function(node: Expression) -> bool:
    """Whether an expression is a function or class, rather than what one gives."""
    value = node.value
    if isinstance(value, (lattice.Function, lattice.Class, Torch)):
        return True
    if value in (FUNCTION, LAMBDA, CLOSED_LAMBDA) or isinstance(node, (Lambda, Support)):
        return True
    word = dotted(node) or ""
    number = isinstance(value, (Tensor, lattice.Static))
    return word.startswith(_LIBRARIES) and word not in _NUMBERS and not number


def is_object(value: Value | None) -> bool:
    """Whether a value is certain to be no array."""
    named = isinstance(value, lattice.Static) and value.type in ("str", "dtype", "device")
    return value == lattice.NONE or named
