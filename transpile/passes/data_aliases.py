"""A name for the data of a module's array, or for a view of it, through which that is written, is
the array itself.

w = self.proj.weight.data                      init.xavier_uniform_(self.proj.weight.data
init.xavier_uniform_(w.view(n, -1))       →                         .view(n, -1))

b = conv.bias.view(anchors, -1)           →    conv.bias.view(anchors, -1).data[:, 4] += 1
b.data[:, 4] += 1

weight = conv.weight                      →    n = conv.weight.size(0)
n = weight.size(0)                             init.normal_(conv.weight, 0, math.sqrt(2 / n))
init.normal_(weight, 0, math.sqrt(2 / n))

for p in self.lstm.parameters():               for p in self.lstm.parameters():
    w = p                                 →        p.data.uniform_(-1, 1)
    w.data.uniform_(-1, 1)

w = getattr(self, f"w{i}")                init.zeros_(getattr(self, f"w{i}"))
init.zeros_(w)                        →
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..model.copy import clone
from ..model.expressions import Attribute, Call, Constant, Name
from ..model.names import (
    below,
    binds,
    dotted,
    everywhere,
    is_data,
    names_assigned,
    names_in,
    rebound,
    root,
    target_names,
)
from ..model.node import Expression, Node
from ..model.operators import Unary
from ..model.program import Function, Scope
from ..model.statements import Assign, Block, For, While
from .pass_ import Changes, Pass
from .syntactic_writes import is_written

_WALKS = frozenset({"parameters", "named_parameters"})


def run(scope: Scope, facts: Any = None) -> Changes:
    """Spell out the aliases of one function."""
    changes = Changes(scope)
    if isinstance(scope, Function):
        for statement, uses in (*_found(scope), *_asked(scope)):
            for use in uses:
                changes.replace(use, _spelling(statement))
            changes.remove(statement)
    return changes


def _spelling(statement: Assign) -> Callable[[Node], Node]:
    value = statement.expression
    assert value is not None
    return lambda _: clone(value)


def _found(function: Function) -> Iterator[tuple[Assign, list[Name]]]:
    """Names that are given an array, `self.a.b.data`, or a view of one, once, and written through,
    where nothing above that is set later in the function, but by the last that uses the name."""
    me = function.receiver if function.owner else ""
    changing = rebound(function)
    stored = [t for a in function.nodes(Assign) for t in a.targets if isinstance(t, Attribute)]
    for statement in function.nodes(Assign):
        target, value = statement.targets[0], statement.expression
        if len(statement.targets) != 1 or statement.operator or not isinstance(target, Name):
            continue
        path, viewed = _viewed(value, changing)
        walked = _is_walked(statement, value)
        words = path.split(".") if path is not None else [""]
        if target.id in changing or not walked and words[0] in ("", *changing):
            continue
        uses, block = list(_uses(function, target.id, statement)), statement.parent
        if not isinstance(block, Block) or not _are_below(uses, block):
            continue
        own = words[0] == me and block is function.body and is_data(value)
        if not viewed and not own and not walked and not any(map(_is_filled, uses)):
            continue
        above = {".".join(words[:i]) for i in range(2, len(words) + 1)}
        last = max((use.start for use in uses), default=0)
        later = [t for t in stored if t.start > statement.start and dotted(t) in above]
        if any(t.start < last and not _is_set_by(t, uses) for t in later):
            continue
        through = [use for use in uses if not viewed or is_data(use.parent)]
        if any(map(is_written, through)):
            yield statement, uses


def _asked(function: Function) -> Iterator[tuple[Assign, list[Name]]]:
    """Names that a block, maybe a turn of a loop, gives an array of the module under a name that
    the run tells, and fills."""
    for statement in function.nodes(Assign) if function.owner else ():
        call, block, name = statement.expression, statement.parent, dotted(statement.targets[0])
        if not isinstance(call, Call) or len(call.arguments) != 2 or not isinstance(block, Block):
            continue
        held, asked = call.arguments
        computed = dotted(call.function) == "getattr" and not isinstance(asked, Constant)
        if not computed or dotted(held) != function.receiver or len(statement.targets) != 1:
            continue
        bound = [n for other in block.body if other is not statement for n in names_assigned(other)]
        if name is None or not {name, *names_in(asked)}.isdisjoint(bound):
            continue
        loops = [a.start for a in statement.ancestors() if isinstance(a, (For, While))]
        uses, inside = list(_uses(function, name, statement)), set(below(block, Name))
        own = [use for use in uses if use in inside]
        others = (use.start for use in uses if use not in inside)
        if all(start < min(loops, default=block.start) for start in others):
            late = all(use.start > statement.start for use in own)
            if late and any(_is_filled(use) and is_written(use) for use in own):
                yield statement, own


def _is_walked(statement: Assign, value: Expression | None) -> bool:
    """Whether a value is what a walk over params goes by, `p` or `p.data`."""
    name = dotted(value.object if is_data(value) else value)
    for loop in (a for a in statement.ancestors() if isinstance(a, For)):
        if name is not None and name in target_names(loop.target):
            call = loop.iterable
            way = call.function if isinstance(call, Call) else None
            bound = {n for part in loop.body.walk() for n in _bound_by(part)}
            return isinstance(way, Attribute) and way.name in _WALKS and name not in bound
    return False


def _bound_by(node: Node) -> Iterable[str]:
    return binds(node) if isinstance(node, (Assign, For)) else ()


def _viewed(value: Expression | None, changing: set[str]) -> tuple[str | None, bool]:
    """The path of `a.bias`, `a.b.data`; and of `a.bias` in `a.bias.view(n, -1)`, a view of it."""
    if isinstance(value, Attribute):
        path = dotted(value)
        apart = path is not None and path.count(".") > is_data(value)
        return (path, False) if apart else (None, False)
    if isinstance(value, Call) and isinstance(value.function, Attribute):
        fixed = value.function.name == "view" and all(_stays(a, changing) for a in value.arguments)
        path = dotted(value.function.object)
        return (path, True) if fixed and path is not None and "." in path else (None, False)
    return None, False


def _stays(node: Expression, changing: set[str]) -> bool:
    """Whether an expression is the same wherever it stands."""
    if isinstance(node, (Attribute, Name)):
        name = root(node)
        return name is not None and name.id not in changing
    if isinstance(node, Unary):
        return _stays(node.operand, changing)
    return isinstance(node, Constant)


def _are_below(uses: list[Name], block: Block) -> bool:
    names = set(below(block, Name))
    return all(use in names for use in uses)


def _is_set_by(target: Attribute, uses: list[Name]) -> bool:
    """Whether the last uses of a name give its array another value: `m.bias = Parameter(b)`."""
    statement = target.parent
    inside = set(statement.walk()) if isinstance(statement, Assign) else set()
    return all(use in inside for use in uses if use.start > target.start)


def _is_filled(name: Name) -> bool:
    """`init.normal_(w)`, `init.normal_(w.data)`"""
    node: Expression = name
    if is_data(name.parent):
        node = name.parent
    call = node.parent
    first = isinstance(call, Call) and bool(call.arguments) and call.arguments[0] is node
    return first and (dotted(call.function) or "").endswith("_")  # type: ignore[union-attr]


def _uses(function: Function, name: str, statement: Assign) -> Iterator[Name]:
    return (n for n in everywhere(function, Name) if n.id == name and n.parent is not statement)


PASS = Pass("data_aliases", (), run)
