"""A constructor that returns early: what makes arrays behind that is the other way.

if plain:                    if plain:
    return                       pass
init.zeros_(self.w)   →      else:
                                 init.zeros_(self.w)
"""

from ....model.layout import comments
from ....model.node import Node, Statement
from ....model.statements import Block, If, Return
from ...reports import Reports
from .arrays import take_out
from .events import Events

_LEAVES = "the constructor returns here, and makes arrays behind that on other ways"


def without_returns(events: Events, reports: Reports) -> None:
    """Let no statement that moves stand behind a return."""
    _block(events.function.body, events)
    for statement in events.function.nodes(Return):  # none of those of functions inside
        if statement is not events.function.body.body[-1] and not _is_apart(statement, events):
            reports.refuse("unsupported", statement, _LEAVES)


def _block(block: Block, events: Events) -> None:
    for at, statement in enumerate(block.body):
        rest = block.body[at + 1 :]
        if not isinstance(statement, If) or not any(_makes(s, events) for s in rest):
            continue
        body, orelse = statement.body, statement.orelse
        if _returns(body, events):
            _end(body)
            body, other = body, Block([*(_taken(orelse) if orelse else []), *_taken(block, rest)])
            _block(other, events)
        elif orelse is not None and _returns(orelse, events):
            _end(orelse)
            body, other = Block([*_taken(body), *_taken(block, rest)]), orelse
            _block(body, events)
        else:
            continue
        made = If(statement.test, body, other)
        made.comments = comments(statement)
        block.substitute(statement, [made])
        return


def _returns(block: Block, events: Events) -> bool:
    """Whether a block ends by a return, and returns nowhere else."""
    last, below = block.body[-1], set(block.walk())
    inside = [n for n in events.function.nodes(Return) if n in below]
    return isinstance(last, Return) and last.expression is None and inside == [last]


def _end(block: Block) -> None:
    """Take the return at the end of a block away."""
    take_out(block.body[-1])


def _taken(block: Block, statements: list[Statement] | None = None) -> list[Statement]:
    found = list(block.body if statements is None else statements)
    for statement in found:
        block.take(statement)
    return found


def _makes(node: Node, events: Events) -> bool:
    return any(isinstance(n, Statement) and events.kind(n) for n in node.walk())


def _is_apart(statement: Return, events: Events) -> bool:
    """Whether no event stands behind a return in the blocks around it."""
    inner: Node = statement
    for around in statement.ancestors():
        if isinstance(around, Block):
            at = next(i for i, s in enumerate(around.body) if s is inner)
            if any(_makes(s, events) for s in around.body[at + 1 :]):
                return False
        if around is events.function:
            break
        inner = around
    return True
