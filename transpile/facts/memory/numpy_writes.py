"""What writes an array of NumPy's in place: stores, some methods, and some functions of NumPy's."""

from collections.abc import Iterator

from ...model.expressions import Attribute, Call, Subscript
from ...model.names import in_scope
from ...model.node import Expression, Statement
from ...model.statements import Assign, ExpressionStatement
from ..values.lattice import External
from .access_paths import of

METHODS = frozenset("byteswap fill itemset partition put resize setfield sort".split())
_FUNCTIONS = frozenset(
    "add.at copyto fill_diagonal multiply.at place put put_along_axis putmask random.shuffle "
    "subtract.at".split()
)


def written(statement: Statement) -> Iterator[Expression]:
    """The expressions that a simple statement writes, where they are arrays of NumPy's: a of
    `a[0] = 1`, `a += 1`, `a.sort()`, `np.put(a, …)`, `np.add(a, b, out=a)`."""
    if isinstance(statement, Assign):
        stores = (t for t in statement.targets if isinstance(t, Subscript) or statement.operator)
        yield from stores
    elif isinstance(statement, ExpressionStatement) and isinstance(statement.expression, Call):
        yield from written_by(statement.expression)
    for call in in_scope(statement, Call):
        out = call.keyword("out")
        if out is not None and _name(call).startswith("numpy."):
            yield out


def written_by(call: Call) -> list[Expression]:
    """What a call that stands alone writes."""
    if isinstance(call.function, Attribute) and call.function.name in METHODS:
        return [call.function.object]
    named = _name(call).removeprefix("numpy.") in _FUNCTIONS
    return call.arguments[:1] if named else []


def _name(call: Call) -> str:
    function = of(call.function)
    return function.name if isinstance(function, External) else ""
