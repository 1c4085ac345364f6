"""The nodes of "JAX with self" for branches and loops under control of data, and loops that are
scans: what was an `if` or a loop of the user's, with what it carries."""

from __future__ import annotations

from .carry import Carry
from .node import Expression, Statement
from .statements import Block, For, If, While


class Cond(If):
    """A branch on data. `total`: every operation is finite on both sides, with its slope, and
    nothing else is done. `returns`: both sides end in a `return`, and no names come out."""

    __slots__ = ("carry", "total", "returns")

    def __init__(
        self,
        test: Expression,
        body: Block,
        orelse: Block | None,
        carry: Carry,
        total: bool,
        returns: bool = False,
    ) -> None:
        super().__init__(test, body, orelse)
        self.carry, self.total, self.returns = carry, total, returns

    @property
    def choosable(self) -> bool:
        """Whether both sides may be computed, and `jnp.where` choose: it would broadcast what
        differs in shape."""
        return self.total and self.carry.same is True


class Loop(While):
    """A loop that data ends. `bound`: the most turns that it can have, where that is known."""

    __slots__ = ("carry", "bound")
    parts = ("test", "body", "orelse", "bound")

    def __init__(
        self, test: Expression, body: Block, carry: Carry, bound: Expression | None = None
    ) -> None:
        self.bound = bound
        super().__init__(test, body)
        self.carry = carry


class Repeat(For):
    """`for i in range(n)` where the data tell n: `lax.fori_loop`. The index is not live after."""

    __slots__ = ("carry",)

    def __init__(self, target: Expression, iterable: Expression, body: Block, carry: Carry) -> None:
        super().__init__(target, iterable, body)
        self.carry = carry


class Scan(For):
    """A loop of a fixed number of turns that carries arrays. `running`: the carried name that
    says whether turns still count.

    What it goes over is one of these (`model/iteration.py` reads it): an array, `range(n)`,
    `enumerate(…)` or `zip(…)` of arrays, `reversed(…)` of one of the first two. The names of its
    `Collect`s are bound to arrays after it.
    """

    __slots__ = ("carry", "running")

    def __init__(
        self,
        target: Expression,
        iterable: Expression,
        body: Block,
        carry: Carry,
        running: str | None = None,
    ) -> None:
        super().__init__(target, iterable, body)
        self.carry, self.running = carry, running

    @property
    def collects(self) -> list[Collect]:
        """What each turn adds a row to, in order."""
        return [s for s in self.body.body if isinstance(s, Collect)]


class Collect(Statement):
    """In a turn of a `Scan`: a row of the array that `name` is after it, along axis 0.

    In the text it is `outputs.append(h)`: the list is no more."""

    __slots__ = ("name", "expression")
    parts = ("expression",)

    def __init__(self, name: str, expression: Expression) -> None:
        super().__init__()
        self.name, self.expression = name, expression
        self.adopt()


def leave_to_python(node: Statement) -> None:
    """Let a plain statement of Python's stand in its place: where it runs all numbers are known."""
    if isinstance(node, Cond):
        node.become(If(node.test, node.body, node.orelse))
    elif isinstance(node, Loop):
        node.become(While(node.test, node.body, node.orelse))
    elif isinstance(node, (Repeat, Scan)):
        node.become(For(node.target, node.iterable, node.body, node.orelse))
