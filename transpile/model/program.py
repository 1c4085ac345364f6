"""Files, classes and functions: the parts of a program that have names, scopes and indices of
their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from .expressions import Lambda, Name, OpaqueExpression, Starred
from .node import Expression, N, Node, Statement
from .statements import Block


class Scope(Node):
    """What keeps an index of the nodes in it by class, so that a pass enters only what has its
    construct.

    Nested functions and classes have indices of their own; of them only what runs where they are
    defined belongs here: decorators, defaults, annotations and bases. Lambdas and comprehensions
    belong to the scope that they stand in.
    """

    __slots__ = ("version", "_index", "_places", "_several")

    def __init__(self) -> None:
        super().__init__()
        self.version = 0  # counts changes: what is known of one version holds for no other
        self._index: dict[type[Node], list[Node]] | None = None
        self._places: dict[Node, int] | None = None  # of the nodes in the index, where asked for
        self._several: dict[tuple[type[Node], ...], list[Node]] = {}  # what was asked of it

    def own(self) -> list[Node]:
        """The nodes at the root of what runs in this scope."""
        raise NotImplementedError

    def nodes(self, *kinds: type[N]) -> list[N]:
        """The nodes of these classes in this scope, in the order of the source."""
        index: Any = self.index if self._index is None else self._index
        if len(kinds) == 1:
            return index.get(kinds[0], [])  # type: ignore[no-any-return]
        found: Any = self._several.get(kinds)
        if found is None:
            lists = [index[kind] for kind in kinds if kind in index]
            if len(lists) == 1:
                found = lists[0]
            else:
                found = [node for nodes in lists for node in nodes]
                self._order(found)
            self._several[kinds] = found
        return found  # type: ignore[no-any-return]

    def _order(self, nodes: list[Node]) -> None:
        """Put nodes of this scope into the order of the source."""
        if any(node.start < 0 for node in nodes):  # what was made stands among the user's
            if self._places is None:
                self._places = {node: at for at, node in enumerate(within(self.own()))}
            nodes.sort(key=self._places.__getitem__)
        else:
            nodes.sort(key=lambda node: node.start)

    @property
    def yields(self) -> list[OpaqueExpression]:
        """What it gives before it goes on: of a generator."""
        return [n for n in self.nodes(OpaqueExpression) if n.word.startswith("yield")]

    @property
    def index(self) -> dict[type[Node], list[Node]]:
        if self._index is None:
            self._index = {}
            for node in within(self.own()):
                self._index.setdefault(node.__class__, []).append(node)
        return self._index

    def changed(self, own: bool) -> None:
        self.version += 1
        if own:
            self._index = self._places = None
            self._several = {}

    def runs_apart(self, part: Node) -> bool:
        return any(part is root for root in self.own())


class Parameter(Node):
    """`kind`: "/" before a slash, "" plain, "*" the rest, "=" by keyword alone, "**" the rest by
    keyword."""

    __slots__ = ("name", "kind", "annotation", "default")
    parts = ("annotation", "default")

    def __init__(
        self,
        name: str,
        kind: str = "",
        annotation: Expression | None = None,
        default: Expression | None = None,
    ) -> None:
        super().__init__()
        self.name, self.kind, self.annotation, self.default = name, kind, annotation, default
        self.adopt()

    def handed_on(self) -> Expression:
        """What a call gives of it: `x`, `*args`, `**kwargs`."""
        read = Name(self.name)
        return Starred(read, self.kind == "**") if self.kind in ("*", "**") else read


class Decorated(Statement):
    """A function or class, which may have decorators."""

    __slots__ = ()
    decorators: list[Expression]

    def undecorate(self, decorator: Expression) -> None:
        """Leave out a decorator, with its line; a comment behind it stays."""
        at = next(i for i, d in enumerate(self.decorators) if d is decorator)
        place = decorator.place()
        del self.decorators[at]
        if self.start >= 0 and self.file is not None and place is not None:
            text = self.file.text
            first, stop = text.rindex("@", 0, place[0]), text.index("\n", place[1])
            commented = "#" in text[place[1] : stop]
            while not commented and text[stop].isspace():
                stop += 1
            self.patch(first, text.index("#", place[1]) if commented else stop, "")
        self.touch()


class Function(Scope, Decorated):
    """A function or method; one that is defined in another is a statement of that."""

    __slots__ = ("decorators", "name", "parameters", "returns", "body", "asynchronous")
    parts = ("decorators", "parameters", "returns", "body")

    def __init__(
        self,
        name: str,
        parameters: Iterable[Parameter],
        body: Block,
        decorators: Iterable[Expression] = (),
        returns: Expression | None = None,
        asynchronous: bool = False,
    ) -> None:
        super().__init__()
        self.name, self.parameters, self.body = name, list(parameters), body
        self.decorators, self.returns, self.asynchronous = list(decorators), returns, asynchronous
        self.adopt()

    def own(self) -> list[Node]:
        return [self.body]

    @property
    def receiver(self) -> str:
        """The name of its first parameter, by which a method knows its object, or nothing."""
        return self.parameters[0].name if self.parameters else ""

    @property
    def qualified(self) -> str:
        """Its name with those of the functions and classes around it: `Net.forward`."""
        around = [n.name for n in self.ancestors() if isinstance(n, (Function, Class))]
        return ".".join([*reversed(around), self.name])

    def rename(self, name: str) -> None:
        """Give it another name; its project's table of methods is another matter
        (`Classes.rename_method`).
        """
        if self.start >= 0 and self.file is not None:
            text = self.file.text[
                self.start : self.end
            ]  # a comment below a decorator may say "def"
            word = re.search(rf"^[ \t]*(?:async\s+)?def\s+({re.escape(self.name)})\b", text, re.M)
            assert word is not None
            self.patch(self.start + word.start(1), self.start + word.end(1), name)
        self.name = name
        self.touch()

    @property
    def scope(self) -> Scope:
        """The scope that it is defined in."""
        return next(n for n in self.ancestors() if isinstance(n, Scope))

    @property
    def owner(self) -> Class | None:
        """The class whose method this is: the one that it stands in, perhaps below an `if`."""
        scope = self.scope
        return scope if isinstance(scope, Class) else None


class Class(Scope, Decorated):
    __slots__ = ("decorators", "name", "bases", "keywords", "body")
    parts = ("decorators", "bases", "body")

    def __init__(
        self,
        name: str,
        bases: Iterable[Expression],
        body: Block,
        decorators: Iterable[Expression] = (),
        keywords: Iterable[str | None] | None = None,
    ) -> None:
        super().__init__()
        self.name, self.bases, self.body = name, list(bases), body
        self.keywords = [None] * len(self.bases) if keywords is None else list(keywords)
        self.decorators = list(decorators)
        self.adopt()

    def own(self) -> list[Node]:
        return [self.body]


class File(Scope):
    """One file of a project: its text, and the statements that run when it is imported."""

    __slots__ = ("path", "text", "body", "_scopes")
    parts = ("body",)

    def __init__(self, path: PurePosixPath, text: str, body: Block) -> None:
        super().__init__()
        self.path, self.text, self.body = path, text, body
        self._scopes: tuple[int, list[Scope]] | None = None  # as of a version
        self.adopt()

    def own(self) -> list[Node]:
        return [self.body]

    def scopes(self) -> Iterator[Scope]:
        """This file and all functions and classes in it, outer before inner."""
        if self._scopes is None or self._scopes[0] != self.version:
            found: list[Scope] = []
            stack: list[Scope] = [self]
            while stack:
                scope = stack.pop()
                found.append(scope)
                stack.extend(reversed(scope.nodes(Function, Class)))
            self._scopes = self.version, found
        return iter(self._scopes[1])

    def functions(self) -> Iterator[Function]:
        return (s for s in self.scopes() if isinstance(s, Function))

    def classes(self) -> Iterator[Class]:
        return (s for s in self.scopes() if isinstance(s, Class))


def within(roots: Iterable[Node]) -> Iterator[Node]:
    """What stands in a scope, in the order of the source: of functions and classes inside only
    what runs at their definition."""
    stack = list(reversed(list(roots)))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (Function, Class)):
            below = at_definition(node)
        elif node.parts:
            below = node.children()
        else:
            continue
        below.reverse()
        stack.extend(below)


def at_definition(node: Function | Class | Lambda) -> list[Node]:
    """What runs where a function or class is defined, rather than when it is called."""
    if isinstance(node, Class):
        return [*node.decorators, *node.bases]
    parts = [p for parameter in node.parameters for p in (parameter.annotation, parameter.default)]
    if isinstance(node, Function):
        parts = [*node.decorators, *parts, node.returns]
    return [p for p in parts if p is not None]
