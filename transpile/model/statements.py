"""The statements of a program."""

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from .block import Block as Block
from .block import Pass as Pass
from .node import Expression, Node, Statement


class Assign(Statement):
    """`targets = expression`; with `operator` an augmented one, with `annotation` an annotated
    one."""

    __slots__ = ("targets", "annotation", "operator", "expression")
    parts = ("targets", "annotation", "expression")

    def __init__(
        self,
        targets: Iterable[Expression],
        expression: Expression | None,
        operator: str = "",
        annotation: Expression | None = None,
    ) -> None:
        super().__init__()
        self.targets, self.expression = list(targets), expression
        self.operator, self.annotation = operator, annotation
        self.adopt()


class ExpressionStatement(Statement):
    """An expression that is evaluated for what it does."""

    __slots__ = ("expression",)
    parts = ("expression",)

    def __init__(self, expression: Expression) -> None:
        super().__init__()
        self.expression = expression
        expression.parent = self


class Return(Statement):
    __slots__ = ("expression",)
    parts = ("expression",)

    def __init__(self, expression: Expression | None) -> None:
        super().__init__()
        self.expression = expression
        self.adopt()


class Break(Statement):
    __slots__ = ()


class Continue(Statement):
    __slots__ = ()


class If(Statement):
    """`if test: body else: orelse`; an `elif` is an `orelse` of the form "elif" that holds one
    If."""

    __slots__ = ("test", "body", "orelse")
    parts = ("test", "body", "orelse")

    def __init__(self, test: Expression, body: Block, orelse: Block | None = None) -> None:
        super().__init__()
        self.test, self.body, self.orelse = test, body, orelse
        self.adopt()

    def otherwise(self, block: Block) -> None:
        """Get another side, where it has none."""
        assert self.orelse is None
        self.orelse, block.parent = block, self
        block.slot = (self.end, self.end) if self.start >= 0 else None
        self.touch()

    def decide(self, way: bool) -> None:
        """Put the side that is always run, or nothing, in its place."""
        block, orelse = self.parent, self.orelse
        assert isinstance(block, Block)
        if not way and block.form == "elif" and isinstance(block.parent, If):
            block.parent.skip_elif()
        elif not way and orelse is not None and orelse.form == "elif":
            block.substitute(self, [orelse.body[0]])
        else:
            side = self.body if way else orelse
            if side is None or len(side.body) == 1 and isinstance(side.body[0], Pass):
                block.remove(self)
            else:
                block.unfold(self, side)

    def skip_elif(self) -> None:
        """Leave out the `elif` below, for the `elif` or `else` that is below that."""
        assert self.orelse is not None and isinstance(self.orelse.body[0], If)
        skipped, inner = self.orelse, self.orelse.body[0].orelse
        self.orelse = inner
        if inner is not None:
            inner.parent = self
        if self.start < 0 or self.file is None or skipped.start < 0 or skipped.slot is not None:
            self.restate()
            return
        text, end = self.file.text, skipped.end
        if inner is None:
            self.patch(self.body.end, end, "")
        elif inner.start < 0 or inner.slot is not None:
            self.restate()
        else:
            end = inner.start if inner.form == "elif" else text.rindex("else", 0, inner.start)
            self.patch(skipped.start, end, "")


class While(Statement):
    __slots__ = ("test", "body", "orelse")
    parts: ClassVar[tuple[str, ...]] = ("test", "body", "orelse")

    def __init__(self, test: Expression, body: Block, orelse: Block | None = None) -> None:
        super().__init__()
        self.test, self.body, self.orelse = test, body, orelse
        self.adopt()


class For(Statement):
    __slots__ = ("target", "iterable", "body", "orelse", "asynchronous")
    parts = ("target", "iterable", "body", "orelse")

    def __init__(
        self,
        target: Expression,
        iterable: Expression,
        body: Block,
        orelse: Block | None = None,
        asynchronous: bool = False,
    ) -> None:
        super().__init__()
        self.target, self.iterable, self.body, self.orelse = target, iterable, body, orelse
        self.asynchronous = asynchronous
        self.adopt()

    def unwrap(self) -> None:
        """Put the statements of a turn in its place, with their comments and that of its header."""
        self.parent.unfold(self, self.body)  # type: ignore[union-attr]


class With(Statement):
    """`with contexts[0] as targets[0], …: body`; the target of a context without one is None."""

    __slots__ = ("items", "body", "asynchronous")
    parts = ("items", "body")

    def __init__(
        self, items: Iterable[Expression | None], body: Block, asynchronous: bool = False
    ) -> None:
        super().__init__()
        self.items, self.body, self.asynchronous = list(items), body, asynchronous
        self.adopt()

    def children(self) -> list[Node]:
        return [*(item for item in self.items if item is not None), self.body]

    @property
    def pairs(self) -> list[tuple[Expression, Expression | None]]:
        """Context and target of each item."""
        return list(zip(self.items[::2], self.items[1::2]))  # type: ignore[arg-type]

    def remove(self, context: Expression) -> None:
        """Leave out one of several contexts, with its target."""
        at = next(i for i, item in enumerate(self.items) if item is context)
        ends = [self.items[at], *self.items[at + 1 : at + 2]]
        own = [place for e in ends if e is not None and (place := e.place()) is not None]
        near = self.items[at + 2] if at == 0 else self.items[at - 1] or self.items[at - 2]
        place = near.place() if near is not None else None
        del self.items[at : at + 2]
        if self.start < 0 or not own or place is None:
            self.restate()
            return
        start, end = (own[0][0], place[0]) if at == 0 else (place[1], own[-1][1])
        kept = [p for p in self.patches or () if not start <= p[0] < end]
        self.patches = kept  # what was left out right before it, too
        self.patch(start, end, "")

    def unwrap(self) -> None:
        """Put the statements of the body in its place; comments stay above what they stood above,
        that of its first line above all."""
        self.parent.unfold(self, self.body)  # type: ignore[union-attr]


class Handler(Node):
    """`except type as name: body` of a try; `group` for `except*`."""

    __slots__ = ("type", "name", "body", "group")
    parts = ("type", "body")

    def __init__(
        self, type: Expression | None, name: str | None, body: Block, group: bool = False
    ) -> None:
        super().__init__()
        self.type, self.name, self.body, self.group = type, name, body, group
        self.adopt()


class Try(Statement):
    __slots__ = ("body", "handlers", "orelse", "final")
    parts = ("body", "handlers", "orelse", "final")

    def __init__(
        self,
        body: Block,
        handlers: Iterable[Handler] = (),
        orelse: Block | None = None,
        final: Block | None = None,
    ) -> None:
        super().__init__()
        self.body, self.handlers, self.orelse, self.final = body, list(handlers), orelse, final
        self.adopt()


class Raise(Statement):
    __slots__ = ("exception", "cause")
    parts = ("exception", "cause")

    def __init__(self, exception: Expression | None, cause: Expression | None = None) -> None:
        super().__init__()
        self.exception, self.cause = exception, cause
        self.adopt()


class Assert(Statement):
    __slots__ = ("test", "message")
    parts = ("test", "message")

    def __init__(self, test: Expression, message: Expression | None = None) -> None:
        super().__init__()
        self.test, self.message = test, message
        self.adopt()


class Delete(Statement):
    __slots__ = ("targets",)
    parts = ("targets",)

    def __init__(self, targets: Iterable[Expression]) -> None:
        super().__init__()
        self.targets = list(targets)
        self.adopt()


class Imported(NamedTuple):
    """One name of an import: `import name as alias`. The name is "*" for all of a module."""

    name: str
    alias: str | None = None

    @property
    def bound(self) -> str:
        """The name that it binds."""
        return self.alias or self.name.partition(".")[0]


class Import(Statement):
    """`import names`, or `from module import names`; `level` counts the dots of a relative one."""

    __slots__ = ("module", "names", "level")

    def __init__(self, module: str | None, names: Iterable[Imported], level: int = 0) -> None:
        super().__init__()
        self.module, self.names, self.level = module, tuple(names), level

    def meaning(self, name: Imported) -> str:
        """The dotted name that one of its names stands for; nothing for a relative one, which only
        the project knows."""
        if self.level:
            return ""
        if self.module is None:
            return name.name if name.alias else name.name.partition(".")[0]
        return f"{self.module}.{name.name}"


class Declaration(Statement):
    """`global names` or `nonlocal names`."""

    __slots__ = ("word", "names")

    def __init__(self, word: str, names: Iterable[str]) -> None:
        super().__init__()
        self.word, self.names = word, tuple(names)


class OpaqueStatement(Statement):
    """What no pass looks into (`match`, `type`), but that says what it reads, binds and runs."""

    __slots__ = ("word", "inside", "binds")
    parts = ("inside",)

    def __init__(self, word: str, inside: Iterable[Node], binds: Iterable[str] = ()) -> None:
        super().__init__()
        self.word, self.inside, self.binds = word, list(inside), tuple(binds)
        self.adopt()
