"""Which numbers are sizes of arrays that are there, or made of such, so that they are from 0.

b, t, _ = x.shape                               p.expand(b, 1, -1)                 b is a size
n = max(k - t, 0)                               F.pad(x, (n // 2, n - n // 2))     these are
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...model.block import Block
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    Lambda,
    Name,
    Slice,
    Starred,
    Subscript,
)
from ...model.names import dotted
from ...model.node import Expression, Node, Statement
from ...model.operators import Binary, Boolean, Conditional, Unary
from ...model.program import Scope
from ...model.statements import Assign, Break, Continue, ExpressionStatement, Raise, Return
from ..bindings import Definitions
from .layer_sizes import is_own

# Whether what these make is from 0, by whether what they are given is.
_LEAST: dict[str | None, Callable[[Iterable[bool]], bool]] = {"max": any, "min": all, "int": all}

# What makes an array: where its size, or shape, is given.
_MADE = {
    **dict.fromkeys(("jnp.arange", "jnp.zeros", "jnp.ones", "jnp.full"), 0),
    "jnp.linspace": 2,
    "jnp.tile": 1,
}
_ENDS = (Break, Continue, Raise, Return)


class Sizes:
    """Which numbers of one scope are sizes of arrays, or made of such, so that none is -1. `number`
    has what is equal of equal numbers."""

    def __init__(
        self,
        scope: Scope,
        held: Callable[[str], bool] = lambda name: False,
        number: Callable[[Expression], Any] = lambda node: None,
    ) -> None:
        self.scope, self.definitions = scope, Definitions(scope)
        self.held, self.number = held, number

    def is_size(self, node: Expression) -> bool:
        """`x.shape[0]`, `b` of `b, t = x.shape`, `len(x)`, `b * t`, `self.n` of a layer, `a % b`, a
        literal from 0."""
        if isinstance(node, Constant):
            return type(node.constant) is int and node.constant >= 0
        if isinstance(node, Subscript):
            return not isinstance(node.index, Slice) and self.is_shape(node.object)
        if isinstance(node, Attribute):
            held = is_own(node) and (self.held(node.name) or self._has_been_size(node))
            return node.name == "size" or held
        if isinstance(node, Call):
            return self._is_made_size(node)
        if isinstance(node, Binary) and node.operator == "%":
            return self.is_size(node.right)
        if isinstance(node, Binary) and node.operator in ("+", "*", "//"):
            return self.is_size(node.left) and self.is_size(node.right)
        if isinstance(node, Binary) and node.operator == "-":
            return self.is_size(node.left) and self._is_part(node.right, node.left)
        if not isinstance(node, Name):
            return False
        return self._all(node, self._is_bound_to_size) or self._has_been_size(node)

    def _is_made_size(self, node: Call) -> bool:
        """`len(x)`, `x.size(0)`, and of numbers `max(n, 0)`, `min(b, t)`, `int(b)`."""
        word, given = dotted(node.function), node.arguments
        if word == "len" or _is_method(node, "size"):
            return True
        if word not in _LEAST or node.keywords != [None] * len(given) or not given:
            return False
        return not isinstance(given[0], Starred) and _LEAST[word](map(self.is_size, given))

    def _is_part(self, part: Expression, whole: Expression) -> bool:
        """Whether a number is at most a size: `n // 2` of n, `min(a, n)`."""
        part = self.given(part)
        if isinstance(part, Binary) and part.operator == "//":
            by = part.right.constant if isinstance(part.right, Constant) else None
            return type(by) is int and by > 0 and self._are_equal(part.left, whole)
        if not isinstance(part, Call) or dotted(part.function) != "min":
            return False
        return part.keywords == [None] * len(part.keywords) and any(
            self._are_equal(a, whole) for a in part.arguments
        )

    def _are_equal(self, one: Expression, other: Expression) -> bool:
        """Whether two numbers are the same one."""
        if isinstance(one, Name) and isinstance(other, Name) and one.id == other.id:
            found = self.definitions.of.get(one)
            return found is not None and found == self.definitions.of.get(other)
        number = self.number(one)
        return number is not None and number == self.number(other)

    def is_shape(self, node: Expression) -> bool:
        """`x.shape`, a part of it, a list of sizes, and the sum of such."""
        if isinstance(node, Attribute):
            return node.name == "shape"
        if isinstance(node, Subscript):
            return isinstance(node.index, Slice) and self.is_shape(node.object)
        if isinstance(node, Display) and node.kind in ("tuple", "list"):
            return all(
                self.is_shape(e.expression) if isinstance(e, Starred) else self.is_size(e)
                for e in node.elements
            )
        if isinstance(node, Call):
            whole = dotted(node.function) in ("tuple", "list") and len(node.arguments) == 1
            return self.is_shape(node.arguments[0]) if whole else False
        if isinstance(node, Binary) and node.operator == "+":
            return self.is_shape(node.left) and self.is_shape(node.right)
        return isinstance(node, Name) and self._all(node, self._is_bound_to_shape)

    def _all(self, name: Name, test: Callable[[Node], bool]) -> bool:
        found = self.definitions.of.get(name)
        return bool(found) and all(d is not None and test(d) for d in found or ())

    def _has_been_size(self, node: Name | Attribute) -> bool:
        """Whether an array of that size is made too, whenever this is read: `t = jnp.linspace(0.0,
        1.0, n)` raises where n is -1."""
        blocks, later = set(node.ancestors()), set(_later(node))
        before = True
        for use in self._uses(node):
            before = before and use is not node
            listed = isinstance(use.parent, Display) and use.parent.kind in ("tuple", "list")
            given = use.parent if listed else use
            call = given.parent if given is not None else None
            where = statement_of(call)
            certain = where in blocks or where in later
            if isinstance(call, Call) and (
                certain or before and where is not None and where.parent in blocks
            ):
                place = _MADE.get(dotted(call.function) or "", len(call.arguments))
                shape = call.arguments[place] if place < len(call.arguments) else None
                alone = len(call.arguments) == 1 or dotted(call.function) != "jnp.arange"
                if shape is given and alone:
                    return True
        return False

    def _uses(self, node: Name | Attribute) -> Iterable[Node]:
        """Where what a name holds is read, or a number of the module that is not set here."""
        if isinstance(node, Name):
            definition = self.definitions.definition(node)
            return self.definitions.uses.get(definition, ()) if definition is not None else ()
        word = dotted(node)
        found = [a for a in self.scope.nodes(Attribute) if dotted(a) == word]
        set_here = any(
            isinstance(a.parent, Assign) and any(t is a for t in a.parent.targets) for a in found
        )
        return () if set_here else found

    def _is_bound_to_size(self, target: Node) -> bool:
        """`b, _ = x.shape` and `b = x.shape[0]`."""
        around = target.parent
        if isinstance(around, Display) and isinstance(around.parent, Assign):
            given = around.parent.expression
            if isinstance(given, Display) and len(given.elements) == len(around.elements):
                starred = any(isinstance(e, Starred) for e in (*around.elements, *given.elements))
                place = next(i for i, e in enumerate(around.elements) if e is target)
                return not starred and self.is_size(given.elements[place])
            return given is not None and self.is_shape(given)
        return self._is_assigned(target, self.is_size)

    def _is_bound_to_shape(self, target: Node) -> bool:
        return self._is_assigned(target, self.is_shape)

    def _is_assigned(self, target: Node, test: Callable[[Expression], bool]) -> bool:
        around = target.parent
        if not isinstance(around, Assign) or around.operator or around.expression is None:
            return False
        return any(t is target for t in around.targets) and test(around.expression)

    def given(self, node: Expression) -> Expression:
        """What a name was given, where it has one definition here."""
        definition = self.definitions.definition(node) if isinstance(node, Name) else None
        around = definition.parent if definition is not None else None
        if not isinstance(around, Assign) or around.operator or around.expression is None:
            return node
        return around.expression if any(t is definition for t in around.targets) else node

    def rank(self, node: Expression) -> int | None:
        """How many dims an array has, where the code takes its shape apart (`b, t, c = x.shape`) or
        says what it becomes (`x.reshape(b, t, c)`)."""
        if isinstance(node, Call) and isinstance(node.function, Attribute):
            sizes = node.arguments
            if node.function.name == "reshape" and sizes and node.keywords == [None] * len(sizes):
                plain = not any(isinstance(s, (Starred, Display)) for s in sizes)
                return len(sizes) if plain and len(sizes) > 1 else None
        definition = self.definitions.definition(node) if isinstance(node, Name) else None
        if definition is None or not isinstance(node, Name):
            return None
        told = self.rank(made) if (made := self.given(node)) is not node else None
        if told is not None:
            return told
        blocks = set(node.ancestors())
        for use in self.definitions.uses.get(definition, ()):
            taken = use.parent.parent if isinstance(use.parent, Attribute) else None
            if isinstance(taken, Assign) and taken.parent in blocks and self.is_shape(use.parent):  # type: ignore[arg-type]
                target = taken.targets[0]
                if isinstance(target, Display) and taken.expression is use.parent:
                    starred = any(isinstance(e, Starred) for e in target.elements)
                    return None if starred else len(target.elements)
        return None


# What is in them may not be evaluated.
_MAYBE = (Boolean, Comprehension, Conditional, Lambda)


def statement_of(node: Node | None) -> Statement | None:
    """The statement that evaluates an expression for certain."""
    while isinstance(node, Expression) and not isinstance(node, _MAYBE):
        node = node.parent
    return node if isinstance(node, (Assign, ExpressionStatement, Return)) else None


def _later(node: Node) -> Iterator[Statement]:
    """The statements that run once the one of an expression has."""
    own = statement_of(node)
    around = own.parent if own is not None else None
    if own is None or not isinstance(around, Block):
        return
    for statement in around.body[around.body.index(own) + 1 :]:
        yield statement
        if any(isinstance(n, _ENDS) for n in (statement, *statement.walk())):
            return


def _is_method(call: Call, name: str) -> bool:
    return (
        isinstance(call.function, Attribute) and call.function.name == name and bool(call.arguments)
    )


def is_limit(sizes: Sizes, value: Expression, array: Expression) -> bool:
    """Whether a value is `jnp.finfo(x.dtype).max`, or less that, of this x."""
    made = sizes.given(value)
    made = made.operand if isinstance(made, Unary) and made.operator == "-" else made
    call = made.object if isinstance(made, Attribute) and made.name in _LIMITS else None
    if not isinstance(call, Call) or dotted(call.function) not in ("jnp.finfo", "jnp.iinfo"):
        return False
    dtype = call.arguments[0] if call.keywords == [None] else None
    subject = dtype.object if isinstance(dtype, Attribute) and dtype.name == "dtype" else None
    if not isinstance(subject, Name) or not isinstance(array, Name) or subject.id != array.id:
        return False
    reaching = sizes.definitions.of
    return reaching.get(subject) is not None and reaching.get(subject) == reaching.get(array)


_LIMITS = frozenset(("max", "min"))
