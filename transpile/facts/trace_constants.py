"""Which arrays of a function follow from sizes, settings and constants alone: known when traced.

What follows from params, state, inputs or draws is not. NumPy computes whole numbers and bools as
JAX does; where something is rounded, `0.1 * n`, it may not.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import IntEnum

from ..model.constants import is_none
from ..model.effects import NO_EFFECTS, Apply, Detached, Key, Put, Read, Support
from ..model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    ForClause,
    Name,
    NamedExpression,
    OpaqueExpression,
    Slice,
    Starred,
    Subscript,
)
from ..model.names import binds, dotted, in_scope, target_names
from ..model.node import Expression, Node
from ..model.operators import Binary, Boolean, Compare, Unary
from ..model.program import Class, Function
from ..model.statements import Assign, Declaration, For, If, While, With
from .effects import EffectsOf
from .values.lattice import Function as FunctionValue
from .values.lattice import Static, Tensor

# Names that NumPy and jax.numpy share, with the same arguments and, of whole numbers and bools,
# the same results.
SHARED = frozenset(
    "abs all any arange argwhere array asarray atleast_1d block broadcast_to concatenate cumsum "
    "diag diagonal expand_dims eye flip full full_like identity kron logical_and logical_not "
    "logical_or logical_xor maximum meshgrid minimum moveaxis nonzero ones ones_like outer ravel "
    "repeat reshape roll squeeze stack sum swapaxes tile transpose tri tril tril_indices triu "
    "triu_indices where zeros zeros_like".split()
)
TYPES = frozenset("bool_ float16 float32 float64 int8 int16 int32 int64 uint8".split())
_METHODS = frozenset(
    "all any astype cumsum diagonal flatten nonzero ravel repeat reshape squeeze sum swapaxes "
    "transpose".split()
)
_OF_ARRAYS = frozenset({"T", "dtype", "ndim", "shape", "size"})
_JAX_ALONE = frozenset(
    {"total_repeat_length", "size", "fill_value", "promote_integers", "inplace", "mode"}
)
_EXACT = frozenset({"+", "-", "*", "@", "&", "|", "^", "//", "%"})
_BINDING: tuple[type[Node], ...] = (Assign, For, ForClause, NamedExpression, With, Function, Class)
_PLAIN = frozenset({"bool", "int", "float"})
_ASKING = frozenset({"isinstance", "hasattr"})


class How(IntEnum):
    """How an array can be had when a function is traced."""

    NUMPY = 0  # in NumPy's words, which are jax.numpy's
    AT_ONCE = 1  # by computing it there and then
    NOT = 2


class Known:
    """What is known of one function's locals: `bound` has what each of those is given."""

    def __init__(self, function: Function, effects: EffectsOf) -> None:
        self.function, self.effects = function, effects
        self.assumed: set[str] = set()
        self.bound, unpacked = _bindings(function)
        unknown = ["?"]
        while unknown:  # each may follow from another, in a loop from itself
            unknown = [
                name
                for name, given in self.bound.items()
                if not all(map(self._is_given, given))
                or name in unpacked
                and max(map(self._value, given)) != How.NUMPY
            ]
            for name in unknown:
                del self.bound[name]

    def needed(self, nodes: Iterable[Expression]) -> set[str]:
        """The arrays among the locals that these follow from."""
        found: set[str] = set()
        todo = list(nodes)
        while todo:
            names = (n for n in todo.pop().walk() if isinstance(n, Name) and n.id in self.bound)
            new = {n.id for n in names if not isinstance(n.value, Static)} - found
            found |= new
            todo += [a.expression for name in new for a in self.bound[name] if a.expression]
        return found

    def reached(self, names: set[str]) -> set[str]:
        """The locals that may hold what only follows from these, themselves included."""
        found = set(names)
        while True:
            before = len(found)
            for assign in in_scope(self.function, Assign):
                if assign.expression is not None and self._follows(assign.expression, found):
                    found.update(n for t in assign.targets for n in target_names(t))
            if len(found) == before:
                return found

    def _follows(self, node: Expression, names: set[str]) -> bool:
        if not any(isinstance(n, Name) and n.id in names for n in node.walk()):
            return False
        self.assumed = names
        how = self.how(node)
        self.assumed = set()
        return how != How.NOT

    def _is_given(self, assign: Assign) -> bool:
        return self._value(assign) != How.NOT and all(map(self._is_decided, _tests(assign)))

    def _value(self, assign: Assign) -> How:
        assert assign.expression is not None
        return self.how(assign.expression)

    def _is_decided(self, test: Expression) -> bool:
        """Whether Python can take a branch, or a turn, when the function is traced."""
        if isinstance(test, Boolean):
            return self._is_decided(test.left) and self._is_decided(test.right)
        if isinstance(test, Unary):
            return self._is_decided(test.operand)
        if isinstance(test, Compare) and set(test.operators) <= {"is", "is not"}:
            return True
        if isinstance(test, Call) and dotted(test.function) in _ASKING:
            return True
        return not isinstance(test.value, Tensor) and self.how(test) != How.NOT

    # --- expressions -----------------------------------------------------------------------------

    def how(self, node: Expression) -> How:
        """How an expression can be had when the function is traced."""
        if isinstance(node, Constant):
            whole = not isinstance(node.constant, float) or node.constant.is_integer()
            return How.NUMPY if whole else How.AT_ONCE
        if isinstance(node, Key):
            return How.NOT
        if isinstance(node, Put):
            parts = self.how(node.base), self._index(node.index), self.how(node.new)
            return max(How.AT_ONCE, *parts)
        if isinstance(node, Name) and self._is_named(node.id):
            return How.NUMPY
        if isinstance(node.value, Static):
            return How.NUMPY if node.value.type in ("int", "bool", "shape") else How.AT_ONCE
        if isinstance(node, Attribute):
            return self._attribute(node)
        if isinstance(node, Call):
            return self._call(node)
        return self._parts(node)

    def _is_named(self, name: str) -> bool:
        return name in self.bound or name in self.assumed or name in _PLAIN

    def _parts(self, node: Expression) -> How:
        """Of an operator or a display: as its parts can be had."""
        if isinstance(node, Detached):
            return self.how(node.expression) if node.unless is None else How.NOT
        if isinstance(node, Unary):
            return How.NOT if node.operator == "not" else self.how(node.operand)
        if isinstance(node, Binary):
            rounded = How.NUMPY if node.operator in _EXACT else How.AT_ONCE
            return max(rounded, self.how(node.left), self.how(node.right))
        if isinstance(node, Compare):
            return max(map(self.how, node.operands))
        if isinstance(node, Subscript):
            return max(self.how(node.object), self._index(node.index))
        if isinstance(node, Display) and node.kind in ("list", "tuple"):
            return max(map(self.how, node.elements), default=How.NUMPY)
        if isinstance(node, Comprehension) and len(node.clauses) == 1:
            clause = node.clauses[0]
            if not clause.conditions and node.kind == "list":
                return max(self.how(node.element), self.how(clause.iterable))
        return How.NOT

    def _index(self, index: Expression) -> How:
        if isinstance(index, Display) and index.kind == "tuple":
            return max(map(self._index, index.elements), default=How.NUMPY)
        if isinstance(index, Slice):
            ends = [e for e in (index.lower, index.upper, index.step) if e is not None]
            return max(map(self.how, ends), default=How.NUMPY)
        return How.NUMPY if is_none(index) else self.how(index)

    def _attribute(self, node: Attribute) -> How:
        if isinstance(node, Read):
            return How.NOT
        if dotted(node.object) == "jnp":
            return How.NUMPY if node.name in TYPES else How.NOT
        return self.how(node.object) if node.name in _OF_ARRAYS else How.NOT

    def _call(self, node: Call) -> How:
        if any(isinstance(argument, Starred) for argument in node.arguments):
            return How.NOT
        given = max(map(self.how, node.arguments), default=How.NUMPY)
        if isinstance(node.function.value, FunctionValue):
            pure = self._is_pure(node.function.value.function)
            return max(given, How.AT_ONCE) if pure else How.NOT
        name = dotted(node.function) or ""
        if name.startswith("jnp."):
            alike = name[4:] in SHARED and not _JAX_ALONE & set(node.keywords)
            return given if alike else max(given, How.AT_ONCE)
        if isinstance(node.function, Support):
            return max(given, How.AT_ONCE) if isinstance(node.value, Tensor) else How.NOT
        method = node.function
        if isinstance(node, Apply) or not isinstance(method, Attribute):
            return How.NOT
        return max(given, self.how(method.object)) if method.name in _METHODS else How.NOT

    def _is_pure(self, function: Function) -> bool:
        """Whether a function follows from what it is given: it has no params, state or draws, and
        nothing of a function around it."""
        alone = not isinstance(function.scope, Function)
        asked = in_scope(function, OpaqueExpression, Declaration)
        return alone and not any(asked) and self.effects.of(function) == NO_EFFECTS


def _bindings(function: Function) -> tuple[dict[str, list[Assign]], set[str]]:
    """What the locals are given that plain assignments alone bind; and which of them are one of
    several results: `i, j = jnp.nonzero(mask)`."""
    plain: dict[str, list[Assign]] = {}
    unpacked: set[str] = set()
    for node in in_scope(function, Assign):
        if len(node.targets) != 1 or node.operator or node.expression is None:
            continue
        names = target_names(node.targets[0])
        if isinstance(node.targets[0], Display) and isinstance(node.expression, Call):
            unpacked |= set(names)
        elif not isinstance(node.targets[0], Name):
            continue
        for name in names:
            plain.setdefault(name, []).append(node)
    other = {p.name for p in function.parameters}
    times = Counter(n for node in in_scope(function, *_BINDING) for n in binds(node))
    found = {n: given for n, given in plain.items() if times[n] == len(given) and n not in other}
    return found, unpacked


def _tests(node: Node) -> Iterator[Expression]:
    """What decides whether a statement is run."""
    for around in node.ancestors():
        if isinstance(around, Function):
            return
        if isinstance(around, (If, While)):
            yield around.test
        elif isinstance(around, For):
            yield around.iterable
