"""The statements of a program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from .layout import comments, lines_of
from .node import INSERTED, Expression, Node, Statement


class Block(Node):
    """Statements one below the other. `form`: "module", "indented", "inline" (behind the colon),
    "elif" (an `else:` of one If)."""

    __slots__ = ("body", "form", "indent")
    parts = ("body",)

    def __init__(self, body: Iterable[Statement] = (), form: str = "indented") -> None:
        super().__init__()
        self.body, self.form = list(body), form
        self.indent: str | None = None  # the whitespace before its lines, where the user wrote it
        self.adopt()

    def insert_before(self, statement: Statement, new: Iterable[Statement]) -> None:
        """Put statements above one of this block."""
        at = self._index(statement)
        self._insert(at, new)

    def insert_after(self, statement: Statement, new: Iterable[Statement]) -> None:
        """Put statements below one of this block."""
        self._insert(self._index(statement) + 1, new)

    def append(self, new: Iterable[Statement]) -> None:
        """Put statements at the end."""
        self._insert(len(self.body), new)

    def remove(self, statement: Statement) -> None:
        """Leave out a statement; its comments stay where they stand."""
        del self.body[self._index(statement)]
        self._cut(statement, with_comments=False)

    def take(self, statement: Statement) -> None:
        """Leave out a statement that will stand elsewhere; its comments go along with it."""
        statement.comments = comments(statement)
        del self.body[self._index(statement)]
        self._cut(statement, with_comments=True)

    def _cut(self, statement: Statement, with_comments: bool) -> None:
        """Note what of the block's text goes with a statement."""
        place = statement.place()
        if self.start >= 0 and self.file is not None and place is not None and place != INSERTED:
            self.patches = [
                *(self.patches or ()),
                (*lines_of(self.file.text, place, with_comments), ""),
            ]
        self.touch()

    def substitute(self, statement: Statement, new: Iterable[Statement]) -> None:
        """Put any number of statements in the place of one; the first has its lines and
        comments."""
        made = list(new)
        if not made:
            self.remove(statement)
            return
        at = self._index(statement)
        statement.replace(made[0])
        self._insert(at + 1, made[1:])

    def _insert(self, at: int, new: Iterable[Statement]) -> None:
        made = list(new)
        for statement in made:
            statement.parent = self
            statement.slot = INSERTED
        self.body[at:at] = made
        self.touch()

    def _index(self, statement: Statement) -> int:
        return next(i for i, s in enumerate(self.body) if s is statement)


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


class Pass(Statement):
    __slots__ = ()


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

    @property
    def pairs(self) -> list[tuple[Expression, Expression | None]]:
        """Context and target of each item."""
        return list(zip(self.items[::2], self.items[1::2]))  # type: ignore[arg-type]


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
