"""The most turns of a loop, where its test says so of a counter: `while n < 10 and …`."""

from ...facts.carried.written_places import written
from ...model.constants import is_int
from ...model.expressions import Constant, Display, Name, Starred
from ...model.node import Expression, Statement
from ...model.operators import Binary, Boolean, Compare
from ...model.statements import Assign, Block, While

MOST = 1000  # turns up to which a loop with a bound goes through all of them, for its gradient


def bound_of(test: Expression, loop: While) -> int | None:
    """How many turns there are at most, where the test says so of a counter that each turn moves
    by one: `while n < 10 and …`."""
    both = isinstance(test, Boolean) and test.operator == "and"
    if both or isinstance(test, Binary) and test.operator == "&":
        sides = [bound_of(test.left, loop), bound_of(test.right, loop)]  # type: ignore[attr-defined]
        found = [b for b in sides if b is not None]
        return min(found) if found else None
    if not isinstance(test, Compare) or len(test.operands) != 2 or test.operators[0] not in _LESS:
        return None
    counter, limit = test.operands
    if not isinstance(counter, Name) or not is_int(limit):
        return None
    start = start_of(counter.id, loop)
    steps = [s for s in loop.body.body if counter.id in written(s)]
    if not isinstance(start, int) or len(steps) != 1 or not _counts(steps[0], counter.id):
        return None
    turns = int(limit.constant) - start + _LESS[test.operators[0]]  # type: ignore[attr-defined]
    return turns if 0 < turns <= MOST else None


_LESS = {"<": 0, "<=": 1}


def start_of(name: str, loop: While) -> int | float | None:
    """The number that a name is given right before a loop."""
    block = loop.parent
    assert isinstance(block, Block)
    at = block.body.index(loop)
    for statement in reversed(block.body[:at]):
        if name in written(statement):
            value = _given(statement, name)
            number = isinstance(value, Constant) and _is_number(value)
            return value.constant if number else None  # type: ignore[union-attr]
    return None


def _given(statement: Statement, name: str) -> Expression | None:
    """What an assignment gives a name: `n = 0`, `x, n = f(x), 0`."""
    if not isinstance(statement, Assign) or statement.operator:
        return None
    targets, value = statement.targets, statement.expression
    if all(isinstance(t, Name) for t in targets):
        return value
    if len(targets) != 1 or not isinstance(targets[0], Display) or not isinstance(value, Display):
        return None
    names, values = targets[0].elements, value.elements
    if any(isinstance(e, Starred) for e in (*names, *values)) or len(names) != len(values):
        return None
    found = [v for n, v in zip(names, values) if isinstance(n, Name) and n.id == name]
    return found[-1] if found else None


def _is_number(node: Constant) -> bool:
    return isinstance(node.constant, (int, float)) and not isinstance(node.constant, bool)


def _counts(statement: Statement, name: str) -> bool:
    """`n += 1` or `n = n + 1`."""
    if not isinstance(statement, Assign) or len(statement.targets) != 1:
        return False
    value = statement.expression
    if statement.operator == "+":
        return _is_one(value)
    if statement.operator or not isinstance(value, Binary) or value.operator != "+":
        return False
    return isinstance(value.left, Name) and value.left.id == name and _is_one(value.right)


def _is_one(node: Expression | None) -> bool:
    return is_int(node) and node.constant == 1  # type: ignore[union-attr]
