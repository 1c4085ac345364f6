"""Which way the body of a rule takes at a call: partial evaluation of its tests."""

import functools
from collections.abc import Callable
from collections.abc import Sequence as Sequence_
from typing import Any

from ...facts.values.lattice import NARROW, NONE, Sequence, Static, Tensor, Torch, least_dims
from ...model.expressions import Attribute, Call, Comprehension, Constant, Display, Name, Starred
from ...model.names import dotted
from ...model.node import Expression, Node, Statement
from ...model.operators import COMPARISONS, Boolean, Compare, Conditional, Unary
from ...model.rulebook import Definition
from ...model.statements import If, Raise, Return
from ...source.lower_ast import lower_statements, lowered
from .argument_types import by_name
from .bind import Argument, Binding, loose_sizes
from .bytes import may_leave_bytes
from .literals import UNDECIDED, literal


class Refused(Exception):
    """The rule says that this form is not supported; without a message, that no rule takes these
    arguments.
    """


@functools.cache
def body_of(definition: Definition) -> list[Statement]:
    """The body of a rule on the model; what is made of it is made of copies."""
    return lower_statements(definition.body)


class Specialised:
    """A rule with the arguments of one call."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self.parameters = {p.name: p for p in binding.definition.parameters}

    def result(self) -> Expression | None:
        """The one expression that the rule returns here, or None where that is not decided. Raises
        Refused.
        """
        found = self._way(body_of(self.binding.definition))
        return found if isinstance(found, Expression) else None

    def _way(self, body: Sequence_[Statement]) -> Expression | str:
        """What is returned, "falls" past the end, or "unknown": an undecided test, anything but a
        return.
        """
        for statement in body:
            if isinstance(statement, Return):
                return statement.expression or "unknown"
            if isinstance(statement, Raise):
                raise Refused(_message(statement))
            if not isinstance(statement, If):
                return "unknown"
            truth = self.truth(statement.test)
            if truth is UNDECIDED:
                return "unknown"
            side = statement.body if truth else statement.orelse
            found = self._way(side.body) if side is not None else "falls"
            if found != "falls":
                return found
        return "falls"

    # --- constants -------------------------------------------------------------------------------

    def constant(self, node: Node) -> Any:
        """The Python value of an expression of the rule, or UNDECIDED."""
        if isinstance(node, (Constant, Display)):
            items = [self.constant(e) for e in node.elements] if isinstance(node, Display) else []
            if isinstance(node, Constant):
                return node.constant
            return UNDECIDED if any(i is UNDECIDED for i in items) else tuple(items)
        if isinstance(node, Name) and node.id in self.parameters:
            return self.parameter(node.id)
        if isinstance(node, Unary) and node.operator == "-":
            inner = self.constant(node.operand)
            return -inner if isinstance(inner, (int, float)) else UNDECIDED
        if isinstance(node, Call) and dotted(node.function) == "len":
            return self._length(node.arguments[0])
        if isinstance(node, Conditional):  # `p if training else 0.0`, where p is 0
            test, body, orelse = (
                self.truth(node.test),
                *map(self.constant, (node.body, node.orelse)),
            )
            if test is UNDECIDED:
                return body if body == orelse else UNDECIDED
            return body if test else orelse
        if isinstance(node, (Boolean, Compare)) or isinstance(node, Unary):
            return self.truth(node)
        return UNDECIDED

    def parameter(self, name: str) -> Any:
        """The Python value that a parameter has."""
        parameter = self.parameters[name]
        if parameter.kind == "sizes":
            return UNDECIDED if self.binding.sizes else ()
        if name in self.binding.given:
            return _constant_of(self.binding.given[name])
        if parameter.default is None or self.binding.rest:
            return UNDECIDED
        return self.constant(lowered(parameter.default))

    def _length(self, node: Node) -> Any:
        """How many sizes are given, or other arguments of one kind."""
        if self._kind(node) != "sizes":
            return UNDECIDED
        loose = loose_sizes(self.binding)
        if loose is not None:
            return len(loose)
        only = self.binding.sizes[0]
        items = only.value.items if isinstance(only.value, Sequence) and only.star else None
        return len(items) if items is not None else UNDECIDED  # of `*operands`

    def _kind(self, node: Node) -> str:
        found = self.parameters.get(node.id) if isinstance(node, Name) else None
        return found.kind if found is not None else ""

    def _given(self, node: Node) -> Argument | None:
        return self.binding.given.get(node.id) if isinstance(node, Name) else None

    # --- tests -----------------------------------------------------------------------------------

    def truth(self, node: Node) -> Any:
        """True, False or UNDECIDED."""
        if isinstance(node, Boolean):
            ends = node.operator == "or"
            sides = [self.truth(node.left), self.truth(node.right)]
            if any(side is ends for side in sides):
                return ends
            return UNDECIDED if any(side is UNDECIDED for side in sides) else not ends
        if isinstance(node, Unary) and node.operator == "not":
            inner = self.truth(node.operand)
            return UNDECIDED if inner is UNDECIDED else not inner
        if isinstance(node, Compare) and len(node.operators) == 1:
            return self._compare(node.operands[0], node.operators[0], node.operands[1])
        if isinstance(node, Call):
            asked = _QUESTIONS.get(dotted(node.function) or "")
            if asked is not None:
                return asked(self, *node.arguments)
        if self._kind(node) == "sizes":
            return bool(self.binding.sizes)  # whether any were given
        given = self._given(node)
        if given is not None and isinstance(given.node, Display):  # `dims=(dim,)`
            if any(not isinstance(e, Starred) for e in given.node.elements):
                return True
        value = self.constant(node)
        return UNDECIDED if value is UNDECIDED else bool(value)

    def _compare(self, left: Expression, word: str, right: Expression) -> Any:
        if word in ("is", "is not"):
            same = self._is_none(left) if literal(right) is None else UNDECIDED
            if same is UNDECIDED:
                a, b = self.constant(left), self.constant(right)
                same = UNDECIDED if UNDECIDED in (a, b) else a is b
            return same if same is UNDECIDED or word == "is" else not same
        if word == ">" and isinstance(left, Attribute) and left.name == "ndim":
            return self._has_dims(left.object) if self.constant(right) == 0 else UNDECIDED
        if word == "==" and isinstance(left, Attribute) and left.name == "bits":
            return self._is_half(left.object) if self.constant(right) == 16 else UNDECIDED
        a, b = self.constant(left), self.constant(right)
        if a is UNDECIDED and word in ("in", "not in"):
            a = self._torch_name(left)
        if word == "==" and dotted(right) == "jnp.uint8":
            return self._torch_name(left) == "torch.uint8"
        if a is UNDECIDED or b is UNDECIDED:
            return UNDECIDED
        try:
            return _COMPARISONS[word](a, b)
        except TypeError:
            return UNDECIDED

    def _has_dims(self, node: Node) -> Any:
        """`input.ndim > 0`, where that is known of the argument."""
        given = self._given(node)
        return True if given is not None and least_dims(given.value) else UNDECIDED

    def _is_half(self, info: Node) -> Any:
        """`jnp.finfo(input.dtype).bits == 16`, where that is known of the argument."""
        dtype = info.arguments[0] if isinstance(info, Call) else info
        given = self._given(dtype.object) if isinstance(dtype, Attribute) else None
        value = given.value if given is not None else None
        half = isinstance(value, Tensor) and value.width >= NARROW and value.kind == "f"
        return True if half else UNDECIDED

    def _all_have_dims(self, node: Node) -> Any:
        """`all(tensor.ndim > 0 for tensor in tensors)`, where that is known of every one."""
        over = node.clauses[0].iterable if isinstance(node, Comprehension) else node
        given = self._given(over)
        if over is node or given is None and self._kind(over) != "sizes":
            return UNDECIDED
        found = self.binding.sizes if given is None else [given]
        return True if all(least_dims(argument.value) for argument in found) else UNDECIDED

    def _torch_name(self, node: Node) -> Any:
        """The torch name that an argument is, which rules find among others:
        `x.type(torch.FloatTensor)`.
        """
        given = self._given(node)
        if given is not None and isinstance(given.value, Torch):
            return given.value.name
        if given is None:
            return UNDECIDED
        dtype = getattr(given.value, "type", "") == "dtype" or by_name(given.node) == "Dtype"
        return "" if dtype else UNDECIDED

    def _is_none(self, node: Node) -> Any:
        given = self._given(node)
        if given is None:
            constant = self.constant(node)
            return UNDECIDED if constant is UNDECIDED else constant is None
        constant, value = literal(given.node), given.value
        if value == NONE or constant is None:
            return True
        if constant is not UNDECIDED or isinstance(value, (Sequence, Torch)):
            return False
        if isinstance(value, Tensor):
            return UNDECIDED if value.none or value.assumed else False
        return False if isinstance(value, Static) and value.type in _NEVER_NONE else UNDECIDED

    def _holds(self, dtype: Node, kind: Node) -> Any:
        """`jnp.issubdtype(input.dtype, jnp.integer)`, where the kind of the argument is known."""
        subject = dtype.object if isinstance(dtype, Attribute) and dtype.name == "dtype" else dtype
        given = self._given(subject) if subject is not dtype else None
        wanted = _KINDS.get(dotted(kind) or "")
        if given is None or wanted is None or not isinstance(given.value, Tensor):
            return UNDECIDED
        return UNDECIDED if given.value.kind is None else given.value.kind in wanted

    def _isinstance(self, subject: Node, kinds: Node) -> Any:
        parts = kinds.elements if isinstance(kinds, Display) else [kinds]
        words = {dotted(part) or "?" for part in parts}
        if not isinstance(subject, Name) or subject.id not in self.parameters:
            return UNDECIDED
        if self._kind(subject) == "sizes":
            return True if words <= {"tuple", "list"} else UNDECIDED
        given = self._given(subject)
        if given is None:
            constant = self.parameter(subject.id)
            return UNDECIDED if constant is UNDECIDED else type(constant).__name__ in words
        constant, value = literal(given.node), given.value
        if constant is not UNDECIDED:
            return bool({kind.__name__ for kind in type(constant).__mro__} & words)
        if isinstance(value, Tensor) and not value.assumed:
            traced = UNDECIDED if "jax.core.Tracer" in words else False
            return True if words & {"jax.Array", "jnp.ndarray"} else traced
        if isinstance(value, Sequence):
            return UNDECIDED if value.loose else ("tuple" if value.tuple else "list") in words
        if isinstance(value, Static) and value.type in ("int", "float", "bool", "str"):
            same = value.type in words or value.type == "bool" and "int" in words
            return UNDECIDED if value.loose else same
        if isinstance(value, Static) and value.type == "shape":
            return "tuple" in words
        return UNDECIDED

    def _certain(self, test: Call) -> Any:
        """`certain(isinstance(scale, int))` is open where the type is one by a default or a call
        alone.
        """
        given = self._given(test.arguments[0])
        loose = given is not None and isinstance(given.value, Static) and given.value.loose
        return UNDECIDED if loose else self.truth(test)


def _constant_of(given: Argument) -> Any:
    """What is given: a literal, or a name for one, `limit = 80.0; x.clamp(max=limit)`."""
    constant, value = literal(given.node), given.value
    if constant is UNDECIDED and isinstance(given.node, Name) and isinstance(value, Static):
        number = type(value.const) in (int, float, bool) and not value.loose
        return value.const if number else UNDECIDED
    return constant


_NEVER_NONE = frozenset({"int", "float", "bool", "str", "shape", "dtype", "range"})
_KINDS = {"jnp.integer": "iu", "jnp.unsignedinteger": "u", "jnp.floating": "f", "jnp.inexact": "fc"}
_QUESTIONS: dict[str, Callable[..., Any]] = {
    "isinstance": Specialised._isinstance,
    "jnp.issubdtype": Specialised._holds,
    "known": lambda rule, test: rule.truth(test) is True,
    "outside_bytes": lambda rule, node: may_leave_bytes(rule._given(node)),
    "certain": Specialised._certain,
    "all": Specialised._all_have_dims,
}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    **COMPARISONS,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}


def _message(statement: Raise) -> str:
    raised = statement.exception
    message = literal(raised.arguments[0]) if isinstance(raised, Call) and raised.arguments else ""
    return message if isinstance(message, str) and message else "this form is not supported"
