"""`not`, `and`, `or`, comparisons in a chain and with what is in a tuple.

    x.mean() > 0 and y.mean() > 0            (x.mean() > 0) & (y.mean() > 0)
    self.training and a > 0 and b > 0   ->   self.training and (a > 0) & (b > 0)
    0 < m < 3                                (0 < m) & (m < 3)

What Python knows is asked first: a test of a mode, a shape or None chooses a way while tracing.
"""

from functools import reduce

from ...facts.values.lattice import BOOL, UNKNOWN, Mapping, Static, Tensor
from ...model.copy import clone
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Display,
    ForClause,
    Lambda,
    Name,
    NamedExpression,
)
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Binary, Boolean, Compare, Unary
from ...model.program import Class
from ...model.statements import Assign, Block, If
from ...source.lower_ast import expression
from ..truth import is_boolean, is_truth, negated, told, traced, truth
from .operators import Operators, place_before, value


def opposite(o: Operators, node: Unary) -> None:
    """`not x` of what data tell."""
    if node.operator == "not" and traced(node.operand):
        o.changes.replace(node, lambda n: negated(n.operand))


def boolean(o: Operators, node: Boolean) -> None:
    """`and`, `or`: of several in a row the outermost speaks for all."""
    parent = node.parent
    if isinstance(parent, Boolean) and parent.operator == node.operator and parent.left is node:
        return
    operands = _row(node)
    at = next((i for i, operand in enumerate(operands) if traced(operand)), None)
    if at is None:
        return
    behind = [operand for operand in operands[at:] if not _by_data(operand)]
    if at == len(operands) - 1:
        return  # `static and traced` gives False, or the right side
    turning = operands[at + (not behind) :]  # the first is asked first, unless others go ahead
    if any(not o.is_pure(operand) for operand in turning):
        _in_turn(o, node, operands)
    elif node in o.asked or all(map(is_truth, operands)):
        if all(isinstance(value(operand), Static) for operand in behind):
            first = [*operands[:at], *behind]
            _joined(o, node, [operands.index(n) for n in first])
    elif at == 0 and len(operands) == 2:
        _operand(o, node)
    else:
        message = "`and` or `or` of tensors, used as a value"
        o.changes.unconverted("traced-branch", node, message)


def _row(node: Expression, operator: str = "") -> list[Expression]:
    """The operands of `a and b and c`, in order."""
    if isinstance(node, Boolean) and node.operator == (operator or node.operator):
        return [*_row(node.left, node.operator), node.right]
    return [node]


def _by_data(node: Expression) -> bool:
    """Whether an operand behind one that data tell goes with it: also what is only assumed to be
    an array.
    """
    known = value(node)
    return isinstance(known, Tensor) or not isinstance(known, Static) and is_boolean(node)


def _joined(o: Operators, node: Boolean, first: list[int]) -> None:
    """The operands at these places by Python's operator, those that data tell by `&` or `|`."""

    def make(node: Boolean) -> Expression:
        operands = _row(node)
        known = [operands[i] for i in first]
        others = [truth(_as_bools(n)) for i, n in enumerate(operands) if i not in first]
        word = "&" if node.operator == "and" else "|"
        data = reduce(lambda a, b: told(Binary(a, word, b)), others)
        if not known:
            return told(data)
        asked = reduce(lambda a, b: _of_host(Boolean(a, node.operator, b)), known)
        return told(Boolean(asked, node.operator, data), python=True)

    o.changes.replace(node, make)


def _of_host(node: Boolean) -> Boolean:
    """What Python asks first: it is not taken for data where it comes to stand alone."""
    node.value = UNKNOWN
    return node


def _as_bools(node: Expression) -> Expression:
    """`(n or t) & u` with n as a bool: `2 & True` is 0."""
    if isinstance(node, Boolean):
        for operand in _row(node)[:-1]:
            if isinstance(value(operand), Static) and not is_truth(operand):
                operand.wrap(_as_bool)
    return node


def _as_bool(node: Expression) -> Expression:
    made = Call(Name("bool"), [node])
    made.value = BOOL
    return made


def _operand(o: Operators, node: Boolean) -> None:
    """`a or b` as a value is one of its operands."""
    left, right = node.left, node.right
    known = value(left)
    named = isinstance(left, (Name, Attribute)) and isinstance(known, Tensor) and not known.none
    if not named or not isinstance(value(right), (Tensor, Static)):
        message = "`and` or `or` of tensors, used as a value"
        o.changes.unconverted("traced-branch", node, message)
        return
    number = isinstance(value(right), Static)

    def make(node: Boolean) -> Expression:
        asked, sides = truth(clone(node.left)), [node.left, node.right]
        if node.operator == "and":
            sides.reverse()
        if number and _is_number(value(node.right)):
            return Call(expression("jnp.where"), [asked, *sides])
        made = [Lambda([], side) for side in sides]
        return Call(expression("lax.cond"), [asked, *made])  # it says where shapes differ

    o.changes.replace(node, make)


def _is_number(known: object) -> bool:
    return isinstance(known, Static) and known.type in ("int", "float", "bool")


def _in_turn(o: Operators, node: Boolean, operands: list[Expression]) -> None:
    """What a side does is done where the ones before it have left it open: `test = a`, then
    `if test: test = b`.
    """
    statement = place_before(o, node) if node in o.asked or all(map(is_truth, operands)) else None
    if statement is None:
        message = "`and` or `or` of tensors, of which a side that may not be reached has effects"
        o.changes.unconverted("traced-branch", node, message)
        return
    name, made = o.fresh("test"), list[Assign | If]()

    def make(node: Boolean) -> Expression:
        for operand in _row(node):
            line = Assign([told(Name(name))], truth(operand))
            if not made:
                made.append(line)
                continue
            asked = told(Name(name))
            test = asked if node.operator == "and" else negated(asked)
            made.append(If(test, Block([line])))
        return told(Name(name))

    o.changes.replace(node, make)
    o.changes.insert_before(statement, made)


def chain(o: Operators, node: Compare) -> None:
    """`0 < m < 3`: what stands in the middle is computed once."""
    if not any(traced(operand) for operand in node.operands):
        return
    if set(node.operators) & {"in", "not in", "is", "is not"}:
        return
    middle = node.operands[1:-1]
    names = [None if _is_plain(n) else o.fresh("middle") for n in middle]
    if any(names) and not _may_name(node):
        message = "a chain of comparisons on tensors whose middle would be computed twice"
        o.changes.unconverted("traced-branch", node, message)
        return
    if any(not o.is_pure(n) for n in node.operands[2:]):
        message = "a chain of comparisons on tensors, of which a side has effects"
        o.changes.unconverted("traced-branch", node, message)
        return

    def make(node: Compare) -> Expression:
        lefts, rights = [node.operands[0]], list[Expression]()
        for name, operand in zip(names, node.operands[1:-1]):
            other: Expression = clone(operand) if name is None else Name(name)
            other.value = operand.value
            lefts.append(other)
            rights.append(operand if name is None else NamedExpression(Name(name), operand))
        rights.append(node.operands[-1])
        parts = [told(Compare(pair, [w])) for w, *pair in zip(node.operators, lefts, rights)]
        return reduce(lambda a, b: told(Binary(a, "&", b)), parts)

    o.changes.replace(node, make)


def _is_plain(node: Expression) -> bool:
    return dotted(node) is not None or isinstance(node, (Constant, Attribute))


def _may_name(node: Node) -> bool:
    """Whether `:=` may stand here: not in what a comprehension goes through, nor in a class."""
    below: Node = node
    for around in node.ancestors():
        if isinstance(around, ForClause) and around.iterable is below or isinstance(around, Class):
            return False
        below = around
    return True


def member(o: Operators, node: Compare) -> None:
    """`k in (0, 2)` is `(k == 0) | (k == 2)`."""
    left, display = node.operands
    if node.operators[0] not in ("in", "not in") or not traced(left):
        return
    if isinstance(value(display), Mapping):
        message = "a dict is asked for a key that data tell: it is left to Python, and cannot be"
        o.changes.report("traced-branch", node, f"{message} under jax.jit")
        return
    if not isinstance(display, Display) or not display.elements or not _is_plain(left):
        return
    if not all(_is_simple(element) for element in display.elements):
        return

    def make(node: Compare) -> Expression:
        left, display = node.operands
        assert isinstance(display, Display)
        parts = [told(Compare([clone(left), e], ["=="])) for e in display.elements]
        made = reduce(lambda a, b: told(Binary(a, "|", b)), parts)
        return made if node.operators[0] == "in" else told(Unary("~", made))

    o.changes.replace(node, make)


def _is_simple(node: Expression) -> bool:
    """What may be compared with at once: names and numbers."""
    inner = node.operand if isinstance(node, Unary) else node
    return isinstance(inner, Constant) or dotted(inner) is not None
