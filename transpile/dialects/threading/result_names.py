"""What the value of a call is called that is taken out of a statement.

x = F.relu(self.bn(x))    x, state = self.bn(x, state)         the name that is bound anyway
return x + self.fc(x)     fc_out, state = self.fc(x, state)    one of its own
"""

from collections.abc import Iterable, Iterator

from ...model.expressions import Attribute, Call, Name, Subscript
from ...model.names import bound_name, names_assigned, names_in
from ...model.node import Expression, Node, Statement
from ...model.program import Function
from ...model.statements import Assign, Block, For, If, Return, While, With
from ..fresh_names import fresh

# A branch or loop on data, which is one of these to a pass, is a function of its own.
_STRAIGHT = (Block, If, For, While, With)


class Names:
    """Names for what is taken out of a statement, which another statement may use again."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken, self._used = set(taken), set[str]()

    def fresh(self, word: str) -> str:
        name = fresh(word, self._taken | self._used)
        self._used.add(name)
        return name

    def of(self, call: Call, statement: Statement | None) -> str:
        """A name for the value of a call that a statement goes on from."""
        name = _at_hand(call, statement) if statement is not None else None
        return name or self.fresh(_word(call))

    def of_made(self, node: Expression, statement: Statement | None) -> str:
        """A name for a list that statements make in the place of an expression."""
        if isinstance(statement, Assign) and statement.expression is node:
            name = bound_name(statement)
            if name and name not in names_in(node) and is_free_for(node, statement, name):
                return name
        return self.fresh("made")

    def release(self) -> None:
        self._used.clear()


def named(statement: Statement) -> Name | None:
    """The name that is all that an assignment reads."""
    value = statement.expression if isinstance(statement, Assign) else None
    return value if isinstance(value, Name) else None


def is_free_for(node: Expression, statement: Statement, name: str) -> bool:
    """Whether nothing that a statement reads beside an expression, or a function at any time, is
    the value that a name has before it."""
    own = {n for n in node.walk() if isinstance(n, Name)}
    inner = statement.nearest(Function)
    if inner is None or any(name in names_in(f) for f in inner.nodes(Function)):
        return False
    targets = statement.targets if isinstance(statement, Assign) else []
    reads = (n for n in statement.walk() if isinstance(n, Name) and n not in targets)
    return all(n in own or n.id != name for n in reads)


def _at_hand(call: Call, statement: Statement) -> str | None:
    """A name that the statement binds, or leaves, where the value is another state of the same:
    `x = self.act(self.norm(x))`, but not `loss = F.mse_loss(self.net(x), y)`."""
    if (target := bound_name(statement)) is not None:
        wanted = target in names_in(call) or _is_chain(call, statement)
        return target if wanted and is_free_for(call, statement, target) else None
    if not isinstance(statement, Return) or not call.arguments:
        return None
    first = call.arguments[0]
    if not isinstance(first, Name) or not _is_own(first.id, statement):
        return None
    return first.id if is_free_for(call, statement, first.id) else None


def _is_chain(call: Call, statement: Statement) -> bool:
    """Whether all that is done between a call and its statement has one operand."""
    for node in _between(call, statement):
        if not isinstance(node, Call):
            return False
        if sum(any(isinstance(n, Name) for n in a.walk()) for a in node.arguments) != 1:
            return False
    return True


def _between(call: Call, statement: Statement) -> Iterator[Node]:
    node = call.parent
    while node is not None and node is not statement:
        yield node
        node = node.parent


def _is_own(name: str, statement: Statement) -> bool:
    """Whether a name is a local one of the function that a statement stands in, and of no other."""
    for node in statement.ancestors():
        if isinstance(node, Function):
            mine = {p.name for p in node.parameters[1 if node.owner is not None else 0 :]}
            return name in mine or name in names_assigned(node.body)
        if type(node) not in _STRAIGHT:
            return False
    return False


def _word(call: Call) -> str:
    """`norm_out` of `self.norm(x)`."""
    function = call.function
    while isinstance(function, Subscript):
        function = function.object
    word = function.name if isinstance(function, Attribute) else ""
    word = function.id if isinstance(function, Name) else word
    return f"{word.strip('_')}_out" if word.strip("_") else "out"
