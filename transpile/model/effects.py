"""The nodes of "JAX with self": what a program does to arrays, modules, randomness and the mode,
for any dialect.

Most are a kind of the node that the user wrote, with the same parts at the same places
(`Node.become`): a dialect that writes them as torch does, as NNX does with a call of a submodule,
leaves the user's text as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .expressions import Attribute, Call
from .node import Expression, Statement
from .statements import Assign, Block, For, If, While

PARAM, BUFFER, CONSTANT, MIXED = "param", "buffer", "constant", "mixed"


@dataclass(frozen=True)
class Effects:
    """What running something does, besides giving a value. Places are dotted, below `self` or
    another root.

    `reads` and `writes` are arrays, `draws` what asks for keys; `mode` whether it depends on
    training; `open` whether something of unknown class runs, which may do anything.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    draws: bool = False
    mode: bool = False
    open: bool = False

    def __or__(self, other: Effects) -> Effects:
        return Effects(
            self.reads | other.reads,
            self.writes | other.writes,
            self.draws or other.draws,
            self.mode or other.mode,
            self.open or other.open,
        )

    def below(self, name: str) -> Effects:
        """The same of a submodule, as its owner sees it."""
        reads = frozenset(f"{name}.{place}" for place in self.reads)
        writes = frozenset(f"{name}.{place}" for place in self.writes)
        return Effects(reads, writes, self.draws, self.mode, self.open)

    def __bool__(self) -> bool:
        return bool(self.reads or self.writes or self.draws or self.mode or self.open)


NO_EFFECTS = Effects()


# --- expressions ----------------------------------------------------------------------------------


class Support(Expression):
    """A definition of the support file: `nn.cross_entropy`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Read(Attribute):
    """An array of a module: `self.weight`, `layer.norm.running_mean`. `kind`: param, buffer,
    constant, or mixed where classes differ."""

    __slots__ = ("kind",)

    def __init__(self, object: Expression, name: str, kind: str) -> None:
        super().__init__(object, name)
        self.kind = kind


class Apply(Call):
    """A module is called, or a method of one, or a function that has effects or is given a
    module."""

    __slots__ = ("effects",)

    def __init__(
        self,
        function: Expression,
        arguments: Iterable[Expression] = (),
        keywords: Iterable[str | None] | None = None,
        effects: Effects = NO_EFFECTS,
    ) -> None:
        super().__init__(function, arguments, keywords)
        self.effects = effects


class New(Call):
    """A module is built. `draws`: whether its constructor makes random values, or None where its
    class is not known."""

    __slots__ = ("draws",)

    def __init__(
        self,
        function: Expression,
        arguments: Iterable[Expression] = (),
        keywords: Iterable[str | None] | None = None,
        draws: bool | None = None,
    ) -> None:
        super().__init__(function, arguments, keywords)
        self.draws = draws


class BoundMethod(Attribute):
    """A method, or a module, as a value: for checkpoint, map, vmap."""

    __slots__ = ()


class Key(Expression):
    """Where a draw needs a key. A draw is any expression that holds one."""

    __slots__ = ()


class Mode(Expression):
    """Whether a module is in training: `self.training`."""

    __slots__ = ("object",)
    parts = ("object",)

    def __init__(self, object: Expression) -> None:
        super().__init__()
        self.object = object
        object.parent = self


class Detached(Expression):
    """No gradient passes: `lax.stop_gradient`. `unless`: a condition under which it does, of
    `torch.set_grad_enabled(training)`."""

    __slots__ = ("expression", "unless")
    parts = ("expression", "unless")

    def __init__(self, expression: Expression, unless: Expression | None = None) -> None:
        super().__init__()
        self.expression, self.unless = expression, unless
        self.adopt()


class Put(Expression):
    """`base` with a part replaced: `base.at[index].set(new)`; `how`: set, add, multiply, divide,
    min, max, power."""

    __slots__ = ("base", "index", "how", "new")
    parts = ("base", "index", "new")

    def __init__(self, base: Expression, index: Expression, how: str, new: Expression) -> None:
        super().__init__()
        self.base, self.index, self.how, self.new = base, index, how, new
        self.adopt()


class Shape(Expression):
    """Of which only the shape is asked, while a model is built."""

    __slots__ = ("expression",)
    parts = ("expression",)

    def __init__(self, expression: Expression) -> None:
        super().__init__()
        self.expression = expression
        expression.parent = self


class Unconverted(Expression):
    """What raises where its value is needed. It says nothing of what a name may hold."""

    __slots__ = ("id", "source")

    def __init__(self, id: str, source: str) -> None:
        super().__init__()
        self.id, self.source = id, source


# --- statements -----------------------------------------------------------------------------------


class Declare(Assign):
    """In a constructor: `self.name = …`, where it stood. `kind`: param, buffer, constant,
    submodule or field."""

    __slots__ = ("kind", "name", "persistent")

    def __init__(self, target: Expression, expression: Expression, kind: str, name: str) -> None:
        super().__init__([target], expression)
        self.kind, self.name = kind, name
        self.persistent = True  # whether torch saves it


class Write(Statement):
    """An array of a module gets a value: a buffer, or a param (initialisers, `.data`)."""

    __slots__ = ("target", "value", "detached")
    parts = ("target", "value")

    def __init__(self, target: Read, value: Expression, detached: bool = False) -> None:
        super().__init__()
        self.target, self.value, self.detached = target, value, detached
        self.adopt()


class Tie(Statement):
    """Two arrays are one from here on: `self.head.weight = self.tokens.weight`."""

    __slots__ = ("target", "source")
    parts = ("target", "source")

    def __init__(self, target: Read, source: Read) -> None:
        super().__init__()
        self.target, self.source = target, source
        self.adopt()


class Walk(For):
    """While building: a loop over modules or params, in torch's order of registration."""

    __slots__ = ()


@dataclass
class Carry:
    """What goes in and comes out of a block under control of data.

    `inputs`: names that are read before they are written; `outputs`: names that are written, and
    live after.
    """

    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    effects: Effects = NO_EFFECTS


class Cond(If):
    """A branch on data. `total`: every operation is finite on both sides, with its slope, and
    nothing else is done."""

    __slots__ = ("carry", "total")

    def __init__(
        self, test: Expression, body: Block, orelse: Block | None, carry: Carry, total: bool
    ) -> None:
        super().__init__(test, body, orelse)
        self.carry, self.total = carry, total


class Loop(While):
    """A loop that data ends. `bound`: the most turns that it can have, where that is known."""

    __slots__ = ("carry", "bound")
    parts = ("test", "body", "orelse", "bound")

    def __init__(
        self, test: Expression, body: Block, carry: Carry, bound: Expression | None = None
    ) -> None:
        super().__init__(test, body)
        self.carry, self.bound = carry, bound
        self.adopt()


class Scan(For):
    """A loop of a fixed number of turns that carries arrays. `running`: the carried name that
    says whether turns still count."""

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


class Layers(Statement):
    """Equal layers one after the other: `for block in self.blocks: x = block(x)`."""

    __slots__ = ("layers", "carried", "call")
    parts = ("layers", "call")

    def __init__(self, layers: Expression, carried: str, call: Apply) -> None:
        super().__init__()
        self.layers, self.carried, self.call = layers, carried, call
        self.adopt()
