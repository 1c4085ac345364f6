"""What is known of sizes: which a layer says to be a multiple of another, and which are none of -1.

self.to_qkv = nn.Linear(dim, inner * 3)         self.to_qkv(x).chunk(3, dim=-1)    of one size
self.c_attn = nn.Linear(n, 3 * n)               self.c_attn(x).split(self.n, 2)    three pieces
b, t, _ = x.shape                               p.expand(b, 1, -1)                 b is a size
"""

from collections import Counter
from collections.abc import Callable

from ..model.effects import New
from ..model.expressions import (
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
from ..model.names import dotted
from ..model.node import Expression, Node, Statement
from ..model.operators import Binary, Boolean, Conditional, Unary
from ..model.program import Class, Scope
from ..model.statements import Assign, ExpressionStatement, Return
from .bindings import Definitions
from .modules import Modules
from .values.lattice import Module

# The parameter that says how large which dim is of what a layer makes.
_SIZES = {
    "torch.nn.Linear": ("out_features", (-1,)),
    "torch.nn.Conv1d": ("out_channels", (1, -2)),
    "torch.nn.Conv2d": ("out_channels", (1, -3)),
    "torch.nn.Conv3d": ("out_channels", (1, -4)),
}


def is_multiple(modules: Modules, cls: Class | None, made: Expression, axis: int, n: int) -> bool:
    """Whether the size of `self.layer(x)` at an axis is certainly a multiple of n, whichever of
    the layers it is that are set there."""
    found = sizes_made(modules, cls, made, axis)
    return bool(found) and all(_has_factor(size, n) for size in found)


def pieces(
    modules: Modules, cls: Class | None, made: Expression, axis: int, piece: Expression
) -> int | None:
    """How many pieces of a size `self.n` the result of `self.layer(x)` has at an axis, where the
    constructor says so: `self.n = n; self.layer = nn.Linear(n, 3 * n)`."""
    if cls is None or not isinstance(piece, Attribute) or not _is_own(piece):
        return None
    held = modules.fields(cls).get(piece.name)
    found = sizes_made(modules, cls, made, axis)
    if held is None or len(held.values) != 1 or len(found) != 1:
        return None
    unit, size = dotted(held.values[0]), found[0]
    if unit is None or not isinstance(size, Binary) or size.operator != "*":
        return None
    for factor, other in ((size.left, size.right), (size.right, size.left)):
        number = factor.constant if isinstance(factor, Constant) else None
        if isinstance(number, int) and number > 0 and dotted(other) in (unit, dotted(piece)):
            return number
    return None


def _is_own(node: Attribute) -> bool:
    owner = node.object.value
    return isinstance(owner, Module) and owner.is_self


def sizes_made(
    modules: Modules, cls: Class | None, made: Expression, axis: int
) -> list[Expression]:
    """The sizes at an axis of what `self.layer(x)` makes, one for each layer that may be set there;
    none where one of them is not known."""
    layer = made.function if isinstance(made, Call) else None
    if cls is None or not isinstance(layer, Attribute) or not _is_own(layer):
        return []
    held = modules.fields(cls).get(layer.name)
    found = [_size_made(value, axis) for value in held.values] if held is not None else []
    return [] if None in found else [size for size in found if size is not None]


def _size_made(layer: Expression, axis: int) -> Expression | None:
    """`inner * 3` of `nn.Linear(dim, inner * 3)`, at its last axis."""
    value = layer.value
    if not isinstance(layer, Call) or not isinstance(value, Module) or value.open:
        return None
    found = [_SIZES.get(ref) for ref in value.refs if isinstance(ref, str)]
    if len(found) != len(value.classes) or not found:
        return None
    if any(f is None or axis not in f[1] or f != found[0] for f in found):
        return None
    assert found[0] is not None
    return _size(layer, found[0][0])


def _size(layer: Call, name: str) -> Expression | None:
    second = layer.arguments[1:2] if layer.keywords[:2] == [None, None] else []
    return layer.keyword(name) or next(iter(second), None)


def _has_factor(size: Expression | None, n: int) -> bool:
    """`inner * 3`, or a number that 3 divides."""
    if isinstance(size, Binary) and size.operator == "*":
        return _has_factor(size.left, n) or _has_factor(size.right, n)
    number = size.constant if isinstance(size, Constant) else None
    return isinstance(number, int) and number > 0 and number % n == 0


def handed_to_layers(scope: Scope) -> frozenset[str]:
    """The names that layers of a scope take for sizes, `n` of `nn.Linear(4, n * 2)`, and those that
    are set once and with them: `self.n = n = config.n`. They are numbers, whatever config is.
    """
    found: set[str | None] = set()
    for call in scope.nodes(New):
        refs = call.value.refs if isinstance(call.value, Module) else []
        if refs and all(isinstance(ref, str) and ref in _SIZES for ref in refs):
            found |= {dotted(n) for size in call.arguments[:2] for n in _terms(size)}
    assigns = list(scope.nodes(Assign))
    named = [{dotted(n) for n in (*a.targets, a.expression) if n is not None} for a in assigns]
    while more := {n for names in named if names & found - {None} for n in names} - found:
        found |= more
    times = Counter(dotted(t) for a in assigns for t in a.targets)
    return frozenset(name for name in found if name is not None and times[name] < 2)


def _terms(size: Expression) -> list[Expression]:
    if isinstance(size, Binary):
        return [*_terms(size.left), *_terms(size.right)]
    return [size]


# --- sizes of arrays that are there ---------------------------------------------------------------

# What makes an array: where its size, or shape, is given.
_MADE = {"jnp.linspace": 2, "jnp.arange": 0, "jnp.zeros": 0, "jnp.ones": 0, "jnp.full": 0}


class Sizes:
    """Which numbers of one scope are sizes of arrays, or made of such, so that none is -1."""

    def __init__(self, scope: Scope, held: Callable[[str], bool] = lambda name: False) -> None:
        self.definitions, self.held = Definitions(scope), held

    def is_size(self, node: Expression) -> bool:
        """`x.shape[0]`, `b` of `b, t = x.shape`, `len(x)`, `b * t`, `self.n` of a layer, `a % b`, a
        literal from 0."""
        if isinstance(node, Constant):
            return type(node.constant) is int and node.constant >= 0
        if isinstance(node, Subscript):
            return not isinstance(node.index, Slice) and self.is_shape(node.object)
        if isinstance(node, Attribute):
            return node.name == "size" or _is_own(node) and self.held(node.name)
        if isinstance(node, Binary) and node.operator == "%":
            return self.is_size(node.right)
        if isinstance(node, Call):
            return dotted(node.function) == "len" or _is_method(node, "size")
        if isinstance(node, Binary) and node.operator in ("+", "*", "//"):
            return self.is_size(node.left) and self.is_size(node.right)
        if not isinstance(node, Name):
            return False
        return self._all(node, self._is_bound_to_size) or self._has_been_size(node)

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

    def _has_been_size(self, name: Name) -> bool:
        """Whether an array of that size was made before: `t = jnp.linspace(0.0, 1.0, n)` raises
        where n is -1."""
        definition, blocks = self.definitions.definition(name), set(name.ancestors())
        before = True
        for use in self.definitions.uses.get(definition, ()) if definition is not None else ():
            before = before and use is not name
            listed = isinstance(use.parent, Display) and use.parent.kind in ("tuple", "list")
            given = use.parent if listed else use
            call = given.parent if given is not None else None
            where = statement_of(call)
            if isinstance(call, Call) and (
                where in blocks or before and where and where.parent in blocks
            ):
                place = _MADE.get(dotted(call.function) or "", len(call.arguments))
                shape = call.arguments[place] if place < len(call.arguments) else None
                alone = len(call.arguments) == 1 or dotted(call.function) != "jnp.arange"
                if shape is given and alone:
                    return True
        return False

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
