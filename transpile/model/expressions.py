"""The expressions of a program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .node import Expression, Node

if TYPE_CHECKING:
    from .program import Parameter


class Name(Expression):
    """A name that is read, or, as a target, bound."""

    __slots__ = ("id",)

    def __init__(self, id: str) -> None:
        super().__init__()
        self.id = id

    def rename(self, id: str) -> None:
        self.reword(self.start, self.end, id)
        self.id = id


class Constant(Expression):
    """A number, string, bytes, None, True, False or `...`; `text` is how the user wrote it."""

    __slots__ = ("constant", "text")

    def __init__(self, constant: Any, text: str | None = None) -> None:
        super().__init__()
        self.constant, self.text = constant, text


class Attribute(Expression):
    """`object.name`."""

    __slots__ = ("object", "name")
    parts = ("object",)

    def __init__(self, object: Expression, name: str) -> None:
        super().__init__()
        self.object, self.name = object, name
        object.parent = self

    def rename(self, name: str) -> None:
        """Another attribute of the same object."""
        self.reword(self.end - len(self.name), self.end, name)
        self.name = name


class Subscript(Expression):
    """`object[index]`; several indices are a tuple without parentheses."""

    __slots__ = ("object", "index")
    parts = ("object", "index")

    def __init__(self, object: Expression, index: Expression) -> None:
        super().__init__()
        self.object, self.index = object, index
        object.parent = index.parent = self


class Slice(Expression):
    """`lower:upper:step`, in an index."""

    __slots__ = ("lower", "upper", "step")
    parts = ("lower", "upper", "step")

    def __init__(
        self, lower: Expression | None, upper: Expression | None, step: Expression | None = None
    ) -> None:
        super().__init__()
        self.lower, self.upper, self.step = lower, upper, step
        self.adopt()


class Call(Expression):
    """`function(arguments)`. `keywords` has a name, or None, for each argument; `*a` and `**k`
    are `Starred`."""

    __slots__ = ("function", "arguments", "keywords")
    parts = ("function", "arguments")

    def __init__(
        self,
        function: Expression,
        arguments: Iterable[Expression] = (),
        keywords: Iterable[str | None] | None = None,
    ) -> None:
        super().__init__()
        self.function, self.arguments = function, list(arguments)
        self.keywords: list[str | None] = (
            [None] * len(self.arguments) if keywords is None else list(keywords)
        )
        function.parent = self
        for argument in self.arguments:
            argument.parent = self

    @property
    def positional(self) -> list[Expression]:
        """The arguments without a keyword."""
        return [a for a, word in zip(self.arguments, self.keywords) if word is None]

    def keyword(self, name: str) -> Expression | None:
        """The argument of this keyword."""
        return next((a for a, word in zip(self.arguments, self.keywords) if word == name), None)

    def append(self, argument: Expression, keyword: str | None = None) -> None:
        """Add an argument behind the others, in the text before the closing parenthesis."""
        argument.parent = self
        argument.slot = None
        if len(self.arguments) == 1 and isinstance(self.arguments[0], Comprehension):
            self.arguments[0].slot = self.arguments[
                0
            ].place()  # `f(x for x in y)` needs parentheses now
        if self.start >= 0:
            at = self._place_behind()
            argument.slot = None if at is None else (at, at)
            if at is None:
                self.restate()
        self.arguments.append(argument)
        self.keywords.append(keyword)
        self.touch()

    def prepend(self, argument: Expression) -> None:
        """Add an argument before the others."""
        self.arguments.insert(0, argument)
        self.keywords.insert(0, None)
        self.adopt()
        self.restate()

    def _place_behind(self) -> int | None:
        """Where the text has room for another argument."""
        if not self.arguments:
            return self.end - 1
        place = self.arguments[-1].place()
        return None if place is None else place[1]

    def remove(self, argument: Expression) -> None:
        """Leave out an argument."""
        at = self._at(argument)
        place, before = argument.place(), self.arguments[at - 1].place() if at else None
        del self.arguments[at], self.keywords[at]
        if self.start < 0 or place is None or before is None or self.file is None:
            self.restate()
        elif "#" in self.file.text[before[1] : place[1]]:
            self.restate()
        else:
            kept = [p for p in self.patches or () if not before[1] <= p[0] < place[1]]
            self.patches = kept  # what was left out right before it, too
            self.patch(before[1], place[1], "")

    def respell(self, argument: Expression, keyword: str | None) -> None:
        """Give an argument another keyword, or none."""
        at, place = self._at(argument), argument.place()
        before, self.keywords[at] = self.keywords[at], keyword
        if before == keyword:
            return
        if self.start >= 0 and place is not None and self.file is not None:
            text = self.file.text
            start = text.rindex(before, self.start, place[0]) if before else place[0]
            self.patch(start, place[0], "" if keyword is None else f"{keyword}=")
        else:
            self.restate()

    def _at(self, argument: Expression) -> int:
        return next(i for i, a in enumerate(self.arguments) if a is argument)


class Starred(Expression):
    """`*expression`, or `**expression` where `double`."""

    __slots__ = ("expression", "double")
    parts = ("expression",)

    def __init__(self, expression: Expression, double: bool = False) -> None:
        super().__init__()
        self.expression, self.double = expression, double
        expression.parent = self


class Display(Expression):
    """A list, tuple or set that is written out; `kind` is one of these words."""

    __slots__ = ("kind", "elements")
    parts = ("elements",)

    def __init__(self, kind: str, elements: Iterable[Expression]) -> None:
        super().__init__()
        self.kind, self.elements = kind, list(elements)
        for element in self.elements:
            element.parent = self


class Dictionary(Expression):
    """A dict that is written out: keys and values by turns; `**d` has the key None."""

    __slots__ = ("entries",)
    parts = ("entries",)

    def __init__(self, entries: Iterable[Expression | None]) -> None:
        super().__init__()
        self.entries = list(entries)
        self.adopt()

    def children(self) -> list[Node]:
        return [entry for entry in self.entries if entry is not None]

    @property
    def pairs(self) -> list[tuple[Expression | None, Expression]]:
        """Key and value of each entry."""
        return list(zip(self.entries[::2], self.entries[1::2]))  # type: ignore[arg-type]


class Comprehension(Expression):
    """`[element for …]`; `kind` is list, set, dict or generator; `key` for a dict alone."""

    __slots__ = ("kind", "key", "element", "clauses")
    parts = ("key", "element", "clauses")

    def __init__(
        self, kind: str, key: Expression | None, element: Expression, clauses: Iterable[ForClause]
    ) -> None:
        super().__init__()
        self.kind, self.key, self.element, self.clauses = kind, key, element, list(clauses)
        self.adopt()


class ForClause(Node):
    """`for target in iterable if condition …` of a comprehension."""

    __slots__ = ("target", "iterable", "conditions", "asynchronous")
    parts = ("target", "iterable", "conditions")

    def __init__(
        self,
        target: Expression,
        iterable: Expression,
        conditions: Iterable[Expression] = (),
        asynchronous: bool = False,
    ) -> None:
        super().__init__()
        self.target, self.iterable, self.conditions = target, iterable, list(conditions)
        self.asynchronous = asynchronous
        self.adopt()


class Lambda(Expression):
    """`lambda parameters: body`."""

    __slots__ = ("parameters", "body")
    parts = ("parameters", "body")

    def __init__(self, parameters: Iterable[Parameter], body: Expression) -> None:
        super().__init__()
        self.parameters, self.body = list(parameters), body
        self.adopt()


class NamedExpression(Expression):
    """`target := expression`."""

    __slots__ = ("target", "expression")
    parts = ("target", "expression")

    def __init__(self, target: Name, expression: Expression) -> None:
        super().__init__()
        self.target, self.expression = target, expression
        target.parent = expression.parent = self


class FormattedString(Expression):
    """An f-string, or several strings in a row of which one is: `literals` are the texts between
    the insertions."""

    __slots__ = ("insertions", "literals")
    parts = ("insertions",)

    def __init__(self, insertions: Iterable[Expression], literals: Iterable[str]) -> None:
        super().__init__()
        self.insertions, self.literals = list(insertions), list(literals)
        self.adopt()


class OpaqueExpression(Expression):
    """What no pass looks into (`yield`, `await`), but that says what is inside: parts are read,
    calls are called."""

    __slots__ = ("word", "inside")
    parts = ("inside",)

    def __init__(self, word: str, inside: Iterable[Expression]) -> None:
        super().__init__()
        self.word, self.inside = word, list(inside)
        self.adopt()
