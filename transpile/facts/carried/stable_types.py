"""Whether a block leaves a name with the shape and dtype that it had: certain for plain arithmetic
of one array, and not known otherwise.

    y = x * 0.5
    x = y - 1               x is as it was, and y as x
"""

from ...model.effects import Put
from ...model.expressions import Call, Constant, Name
from ...model.names import dotted
from ...model.node import Expression
from ...model.operators import Binary, Unary
from ...model.statements import Assign, Block, If, Pass
from ..values.lattice import Tensor
from .written_places import written

Types = dict[str, str | None]  # a name -> the name at the start of the block that it is like

_LIKE = frozenset("jnp.zeros_like jnp.ones_like lax.stop_gradient jnp.abs jnp.negative".split())
_SMOOTH = frozenset(
    "jnp.tanh jnp.exp jnp.sin jnp.cos jnp.sqrt jnp.log jnp.log1p jnp.expm1 jnp.square "
    "jax.nn.sigmoid jax.nn.relu jax.nn.silu jax.nn.softplus".split()
)


def after(block: Block | None, start: Types | None = None) -> Types:
    """What each name that a block binds is like at its end; None where that is not known."""
    now: Types = dict(start or {})
    for statement in block.body if block is not None else ():
        if isinstance(statement, If):
            then, other = after(statement.body, now), after(statement.orelse, now)
            for name in {**then, **other}:
                a, b = then.get(name, name), other.get(name, name)
                now[name] = a if a == b else None
        elif isinstance(statement, Assign) and statement.expression is not None:
            _assign(statement, now)
        elif not isinstance(statement, Pass):
            now.update(dict.fromkeys(written(statement)))
    return now


def _assign(node: Assign, now: Types) -> None:
    target, value = node.targets[0], node.expression
    single = len(node.targets) == 1 and isinstance(target, Name) and value is not None
    like = None
    if single and node.operator:
        made = _arithmetic(target, node.operator, value, now)  # type: ignore[arg-type]
        like = made
    elif single:
        like = _like(value, now)  # type: ignore[arg-type]
    now.update(dict.fromkeys(written(node)))
    if isinstance(target, Name) and single:
        now[target.id] = like


def _like(node: Expression, now: Types) -> str | None:
    """The name at the start of the block whose shape and dtype an expression has."""
    if isinstance(node, Name):
        return now.get(node.id, node.id) if isinstance(node.value, Tensor) else None
    if isinstance(node, Unary) and node.operator == "-":
        return _like(node.operand, now) if _kind(node.operand) in ("f", "i", "c") else None
    if isinstance(node, Put):
        return _like(node.base, now)
    if isinstance(node, Binary):
        return _arithmetic(node.left, node.operator, node.right, now)
    if isinstance(node, Call) and len(node.arguments) == 1 and node.keywords == [None]:
        word, argument = dotted(node.function), node.arguments[0]
        if word in _LIKE or word in _SMOOTH and _kind(argument) == "f":
            return _like(argument, now) if _kind(argument) != "c" else None
    return None


def _arithmetic(left: Expression, operator: str, right: Expression, now: Types) -> str | None:
    """`x * 2`, `x - x`: not `n / 2` of whole numbers, nor what may be broadcast."""
    arrays = [e for e in (left, right) if not isinstance(e, Constant)]
    kinds = {_kind(e) for e in arrays}
    whole = operator in ("+", "-", "*")
    if not arrays or not kinds <= ({"f", "i", "c"} if whole else {"f", "c"}):
        return None
    if not whole and operator != "/":
        return None
    for constant in (e for e in (left, right) if isinstance(e, Constant)):
        number = constant.constant
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            return None
        if isinstance(number, float) and kinds & {"i"}:
            return None
    likes = {_like(e, now) for e in arrays}
    return likes.pop() if len(likes) == 1 else None


def _kind(node: Expression) -> str | None:
    value = node.value
    sure = isinstance(value, Tensor) and not value.none and value.number is False
    return value.kind if sure else None
