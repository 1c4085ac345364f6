"""Truth values as expressions: what is one, how it is asked for, and its opposite."""

from ..facts.values.lattice import Static, Tensor, is_traced
from ..model.expressions import Attribute, Call, Constant, Name
from ..model.names import dotted
from ..model.node import Expression, Node
from ..model.operators import Binary, Boolean, Compare, Unary
from ..model.statements import For, If, While
from ..source.lower_ast import expression

_INVERSE = {"==": "!=", "!=": "=="}
_ORDERED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_ASKING = frozenset("any all isnan isinf isfinite allclose array_equal logical_not".split())


def traced(node: Expression) -> bool:
    """Whether an expression is certain to be computed from data."""
    return node.value is not None and is_traced(node.value)


def is_branch_on_data(node: Node) -> bool:
    """Whether data choose a side."""
    return isinstance(node, If) and traced(node.test)


def is_loop_on_data(node: Node) -> bool:
    """Whether the number of turns of a loop follows from data."""
    if isinstance(node, While):
        return traced(node.test)
    over = node.iterable if isinstance(node, For) else None
    counting = isinstance(over, Call) and isinstance(over.function, Name)
    return counting and over.function.id == "range" and any(map(traced, over.arguments))  # type: ignore[union-attr]


def told(node: Expression, python: bool = False) -> Expression:
    """An expression that was made, known to be a truth value of data."""
    node.value = Tensor(kind="b", python=python)
    return node


def is_boolean(node: Expression) -> bool:
    """Whether the form of an expression says that its value is boolean."""
    if isinstance(node, Compare):
        return True
    if isinstance(node, Binary):
        return node.operator in ("&", "|") and is_boolean(node.left) and is_boolean(node.right)
    if isinstance(node, Unary):
        return node.operator in ("~", "not") and is_boolean(node.operand)
    if not isinstance(node, Call) or not isinstance(node.function, Attribute):
        return False
    # `~math.isnan(v)` is the complement of a bool of Python's, -1 or -2, and so always true
    return dotted(node.function.object) != "math" and node.function.name in _ASKING


def is_truth(node: Expression) -> bool:
    """Whether an expression is a boolean, by its value or its form."""
    value = node.value
    if isinstance(node, Boolean):
        return is_truth(node.left) and is_truth(node.right)
    known = isinstance(value, Tensor) and value.kind == "b"
    return known or isinstance(value, Static) and value.type == "bool" or is_boolean(node)


def truth(node: Expression) -> Expression:
    """An expression that is a boolean: `x != 0` for a number that data tell."""
    if isinstance(node.value, Tensor) and not is_truth(node):
        return told(Compare([node, Constant(0)], ["!="]))
    return node


def negated(node: Expression) -> Expression:
    """The opposite of a truth value that data tell: `a != b` for `a == b`, `~(a < b)` where a NaN
    may be in it.
    """
    if isinstance(node, Compare) and len(node.operators) == 1:
        whole = all(_is_whole(operand) for operand in node.operands)
        opposite = {**_INVERSE, **(_ORDERED if whole else {})}.get(node.operators[0])
        if opposite is not None:
            return told(Compare(node.operands, [opposite]))
    if isinstance(node, Unary) and node.operator == "~" and is_truth(node.operand):
        return node.operand
    value = node.value
    if isinstance(value, Tensor) and value.python and not isinstance(node, (Compare, Unary)):
        return told(Call(expression("jnp.logical_not"), [node]))  # `~True` is -2
    if is_truth(node):
        return told(Unary("~", node))
    return told(Compare([node, Constant(0)], ["=="]))


def _is_whole(node: Expression) -> bool:
    value = node.value
    if isinstance(value, Static):
        return value.type == "int"
    return isinstance(value, Tensor) and value.kind == "i"
