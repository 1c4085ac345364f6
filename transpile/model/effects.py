"""The nodes of "JAX with self": what a program does to arrays, modules, randomness and the mode,
for any dialect.

Most are a kind of the node that the user wrote, with the same parts at the same places
(`Node.become`): a dialect that writes them as torch does, as NNX does with a call of a submodule,
leaves the user's text as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from .carry import NO_EFFECTS as NO_EFFECTS
from .carry import Effects as Effects
from .expressions import Attribute, Call
from .node import Expression, Statement
from .statements import Assign, For

PARAM, BUFFER, CONSTANT, MIXED = "param", "buffer", "constant", "mixed"


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
    module.

    `each`: the name of a layer, where the function is a container of equal ones, and each is called
    on what the one before gave; its other arguments are the same for all. `training`: the mode that
    it runs in, where that is not the caller's."""

    __slots__ = ("effects", "each", "training")

    def __init__(
        self,
        function: Expression,
        arguments: Iterable[Expression] = (),
        keywords: Iterable[str | None] | None = None,
        effects: Effects = NO_EFFECTS,
        each: str | None = None,
        training: bool | None = None,
    ) -> None:
        super().__init__(function, arguments, keywords)
        self.effects, self.each, self.training = effects, each, training


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


class NewArray(Call):
    """An array of a module is made where it is not declared: `setattr(self, name, Parameter(v))`,
    in lists. Its first argument is the value; `kind`: param or buffer."""

    __slots__ = ("kind",)

    def __init__(
        self,
        function: Expression,
        arguments: Iterable[Expression],
        keywords: Iterable[str | None] | None,
        kind: str,
    ) -> None:
        super().__init__(function, arguments, keywords)
        self.kind = kind


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
    """What raises where its value is needed. It says nothing of what a name may hold.

    `of_host`: it is neither array nor module, but an optimizer or the like; a model without it is
    whole.
    """

    __slots__ = ("id", "source", "of_host")

    def __init__(self, id: str, source: str, of_host: bool = False) -> None:
        super().__init__()
        self.id, self.source, self.of_host = id, source, of_host


class Unset(Expression):
    """What a name holds before anything is bound to it: a choice between it and an array takes the
    array's type. It is never read.
    """

    __slots__ = ()


# --- statements -----------------------------------------------------------------------------------


class Declare(Assign):
    """In a constructor: `self.name = …`, where it stood. `kind`: param, buffer, constant,
    submodule or field; `here`: that of an array on this way, where it may be another elsewhere."""

    __slots__ = ("kind", "here", "name", "persistent", "drawn")

    def __init__(self, target: Expression, expression: Expression, kind: str, name: str) -> None:
        super().__init__([target], expression)
        self.kind, self.here, self.name = kind, kind, name
        self.persistent = True  # whether torch saves it
        self.drawn = False  # whether it comes of a draw: each model has its own


class Write(Statement):
    """An array of a module gets a value: a buffer, or a param (initialisers, `.data`).

    `detached`: through its data. `bound`: by an assignment, `self.h = x`, and not in place."""

    __slots__ = ("target", "value", "detached", "bound")
    parts = ("target", "value")

    def __init__(
        self, target: Read, value: Expression, detached: bool = False, bound: bool = False
    ) -> None:
        super().__init__()
        self.target, self.value, self.detached, self.bound = target, value, detached, bound
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
