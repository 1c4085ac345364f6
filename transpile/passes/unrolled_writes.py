"""A loop that writes arrays which are listed by their paths is written out: each has a place of its
own to be written.

    for p in [self.w, self.v]:           self.w.data.fill_(2.0)
        p.data.fill_(2.0)          →     self.v.data.fill_(2.0)

What drops the result of a call that it gives params to may write them, too. So is one that
registers arrays under names that are listed, or fills what it finds under them:

    for name in ["weight", "bias"]:
        p = getattr(layer, name)           nn.init.zeros_(layer.weight)
        nn.init.zeros_(p)            →     nn.init.zeros_(layer.bias)

The rows that a loop over several arrays at once writes are taken by their number:

    for x, row in zip(xs, padded):       for i, (x, row) in enumerate(zip(xs, padded)):
        row[: len(x)] = x          →         row = padded[i]
                                             row[: len(x)] = x
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

from ..model.copy import clone
from ..model.edits import block_of
from ..model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Display,
    Lambda,
    Name,
    Subscript,
)
from ..model.fresh_names import Names
from ..model.names import binds, bound_once, dotted, everywhere, last_word, names_assigned
from ..model.node import Expression, Node, Statement
from ..model.program import Class, Function, Scope
from ..model.statements import Assign, Break, Continue, ExpressionStatement, For, Return
from .pass_ import Changes, Pass
from .syntactic_writes import is_written

_MAKING = frozenset(
    "zeros ones full empty zeros_like ones_like full_like empty_like new_zeros new_ones new_full "
    "new_empty clone".split()
)
_MOST = 24  # statements that a loop may become


def run(scope: Scope, facts: Any = None) -> Changes:
    """Write out the loops of one function."""
    changes = Changes(scope)
    loops = scope.nodes(For) if isinstance(scope, Function) else []
    found = [(loop, rows) for loop in loops if (rows := _written_rows(loop, scope))]
    fresh = Names(scope).fresh if found else str
    for loop, rows in found:
        changes.change(loop, partial(_count, rows=rows, fresh=fresh))
    if isinstance(scope, Function) and scope.parameters:
        for loop in scope.nodes(For):
            me = scope.receiver
            if (_listed(loop, me) or _registers(loop, me)) and _may_be_written_out(loop, scope):
                changes.change(loop, lambda loop: _write_out(loop))
            elif (filling := _filling(loop, scope)) is not None:
                changes.change(loop, partial(_fill, filling=filling))
    return changes


class Filling(NamedTuple):
    """A loop over names that fills the arrays of a module under them."""

    names: list[str]
    made: Assign | None  # what lists them above the loop
    asks: Call  # getattr(layer, name)
    array: str | None  # the name that an array goes by


def _filling(loop: For, function: Function) -> Filling | None:
    over: Expression | None = loop.iterable
    made, uses = None, list(everywhere(function, Name))
    if isinstance(over, Name):
        if sum(n.id == over.id for n in uses) != 2 or over.id not in bound_once(function):
            return None
        lists = (a for a in function.nodes(Assign) if any(dotted(t) == over.id for t in a.targets))
        made = next(lists, None)
        over = made.expression if made is not None else None
    if not isinstance(over, Display) or over.kind == "set" or not isinstance(loop.target, Name):
        return None
    names = [e.constant for e in over.elements if isinstance(e, Constant)]
    inside = [n for n in loop.body.walk() if isinstance(n, Name)]
    asks = [n.parent for n in inside if n.id == loop.target.id]
    if len(asks) != 1 or len(names) < len(over.elements):
        return None
    if not all(isinstance(n, str) and n.isidentifier() for n in names):
        return None
    asked, first = asks[0], loop.body.body[0]
    if (
        not isinstance(asked, Call)
        or dotted(asked.function) != "getattr"
        or len(asked.arguments) != 2
    ):
        return None
    array = None
    if isinstance(first, Assign) and first.expression is asked and len(first.targets) == 1:
        array = dotted(first.targets[0])
    filled: list[Any] = [n for n in inside if n.id == array] if array else [asked]
    kept = set(names_assigned(loop.body)) - {array}
    root = (dotted(asked.arguments[0]) or "").partition(".")[0]
    if not any(map(is_written, filled)) or root in kept or not root or array in kept:
        return None
    ours = array is None or all(_heads(n, array) for n in uses if n.id == array)
    fits = ours and _may_be_written_out(loop, function, len(names))
    return Filling(names, made, asked, array) if fits else None


def _heads(use: Name, array: str) -> bool:
    """Whether a name is read in a loop that begins by binding it."""
    loops = (n for n in use.ancestors() if isinstance(n, For))
    return any(array in names_assigned(loop.body.body[0]) for loop in loops)


def _fill(loop: For, filling: Filling) -> None:
    asks, array, body = filling.asks, filling.array, loop.body.body
    if array is None:
        array = dotted(loop.target) or ""
        asks.replace(Name(array))
    else:
        body = body[1:]
    turns: list[Statement] = []
    for name in filling.names:
        turns += _turn(body, array, Attribute(clone(asks.arguments[0]), name))
    if filling.made is not None:
        block_of(filling.made).remove(filling.made)
    block_of(loop).substitute(loop, turns)


def _listed(loop: For, me: str) -> list[Expression]:
    """The arrays of `self` that a loop goes over one by one; none of other loops."""
    over = loop.iterable
    if not isinstance(over, Display) or over.kind == "set" or not isinstance(loop.target, Name):
        return []
    paths = [dotted(e) if isinstance(e, Attribute) else None for e in over.elements]
    own = all(path is not None and path.split(".")[0] == me for path in paths)
    return over.elements if own and len(set(paths)) == len(paths) else []


def _may_be_written_out(loop: For, function: Function, turns: int = 0) -> bool:
    """Whether the loop writes what its name stands for, and does not need that as a name."""
    assert isinstance(loop.target, Name)
    name, inside = loop.target.id, set(loop.walk())
    names = [n for n in everywhere(function, Name) if n.id == name]
    if name in names_assigned(loop.body) or any(
        n not in inside and not _is_anothers(n) for n in names
    ):
        return False
    if loop.orelse is not None or loop.asynchronous:
        return False
    if any(isinstance(n, (Break, Continue, Return, Function, Class)) for n in loop.body.walk()):
        return False
    statements = sum(isinstance(n, Statement) for n in loop.body.walk())
    if statements * (turns or len(loop.iterable.children())) > _MOST:
        return False
    listed = turns > 0 or any(isinstance(e, Constant) for e in loop.iterable.children())
    if listed or any(is_written(n) for n in names if n in inside):
        return True
    given = any(_is_handed(n) for n in names if n in inside)
    return given and any(_is_param(e, function) for e in loop.iterable.children())


def _is_handed(name: Name) -> bool:
    """Whether a call has it whose result is dropped: `initialise(p, 0.1)` may write it."""
    call = name.parent
    if not isinstance(call, Call) or not isinstance(call.parent, ExpressionStatement):
        return False
    word = last_word(call.function)
    return name in call.arguments and word not in ("append", "extend", "add", "print")


def _is_param(element: Node, function: Function) -> bool:
    """Whether a function sets a parameter under this path: `self.w = nn.Parameter(v)`."""
    path = dotted(element) if isinstance(element, Attribute) else None
    for assign in function.nodes(Assign):
        if path is not None and assign.expression and path in map(dotted, assign.targets):
            calls = (n for n in assign.expression.walk() if isinstance(n, Call))
            if any(last_word(c.function) == "Parameter" for c in calls):
                return True
    return False


def _registers(loop: For, me: str) -> bool:
    """Whether a loop goes over names, and registers something under each, which it asks for by no
    other text: `for name in ["a", "b"]: self.register_buffer(name, w)`."""
    over, target = loop.iterable, loop.target
    if not isinstance(over, Display) or over.kind == "set" or not isinstance(target, Name):
        return False
    names = [e.constant if isinstance(e, Constant) else None for e in over.elements]
    if not all(isinstance(n, str) for n in names) or len(set(names)) < len(names):
        return False
    uses = [n for n in loop.body.walk() if isinstance(n, Name) and n.id == target.id]
    calls = [n.parent for n in uses if isinstance(n.parent, Call) and n in n.parent.arguments[:1]]
    words = ("register_buffer", "register_parameter")
    registers = any(dotted(c.function) in [f"{me}.{w}" for w in words] for c in calls)
    return registers and len(calls) == len(uses) and not any(_is_late(n) for n in loop.body.walk())


def _is_late(node: Node) -> bool:
    """Whether it may ask for the name when the loop is past."""
    return isinstance(node, (Lambda, Comprehension))


def _is_anothers(name: Name) -> bool:
    """Whether a name is bound by another loop around it."""
    loops = (n for n in name.ancestors() if isinstance(n, For))
    return any(name.id in binds(loop) for loop in loops)


def _write_out(loop: For) -> None:
    assert isinstance(loop.iterable, Display) and isinstance(loop.target, Name)
    block, name = loop.parent, loop.target.id
    made = [s for e in loop.iterable.elements for s in _turn(loop.body.body, name, e)]
    block.substitute(loop, made)  # type: ignore[union-attr]


def _turn(body: Iterable[Statement], name: str, element: Expression) -> list[Statement]:
    """What one turn does."""
    made = [clone(statement) for statement in body]
    for statement in made:
        for use in [n for n in statement.walk() if isinstance(n, Name) and n.id == name]:
            use.replace(clone(element))
    return made


def _written_rows(loop: For, scope: Scope) -> dict[str, str]:
    """The names by which a loop writes rows of arrays that the function has made, and of which."""
    once, again = bound_once(scope), names_assigned(loop.body)
    made = {
        name
        for assign in scope.nodes(Assign)
        if isinstance(assign.expression, Call) and isinstance(assign.expression.function, Attribute)
        if assign.expression.function.name in _MAKING
        for name in map(dotted, assign.targets)
        if name in once
    }
    number, pairs = _taken_together(loop)
    written = {n.id for n in loop.body.walk() if isinstance(n, Name) and is_written(n)}
    rows = {name: array for name, array in pairs if name and array in made and name in written}
    names = {number, *rows, *rows.values()}
    return rows if names.isdisjoint(again) else {}


def _taken_together(loop: For) -> tuple[str, list[tuple[str | None, str | None]]]:
    """The name that counts the turns, if one does, and the others, each with what it is from:
    `for i, (x, row) in enumerate(zip(xs, padded)):`."""
    over, target, number = loop.iterable, loop.target, ""
    if isinstance(over, Call) and dotted(over.function) == "enumerate":
        first, *rest = target.elements if isinstance(target, Display) else [target]
        if over.keywords != [None] or len(rest) != 1 or not isinstance(first, Name):
            return "", []
        over, target, number = over.arguments[0], rest[0], first.id
    if isinstance(over, Call) and dotted(over.function) == "zip" and isinstance(target, Display):
        fits = not any(over.keywords) and len(target.elements) == len(over.arguments)
        pairs = zip(map(dotted, target.elements), map(dotted, over.arguments))
        return number, list(pairs) if fits else []
    return number, [(dotted(target), dotted(over))] if number else []


def _count(loop: For, rows: dict[str, str], fresh: Callable[[str], str]) -> None:
    number, _ = _taken_together(loop)
    if not number:
        number = fresh("i")
        loop.iterable.wrap(lambda over: Call(Name("enumerate"), [over]))
        loop.target.wrap(lambda target: Display("tuple", [Name(number), target]))
    for name, array in reversed(rows.items()):
        row = Assign([Name(name)], Subscript(Name(array), Name(number)))
        loop.body.insert_before(loop.body.body[0], [row])


PASS = Pass("unrolled_writes", (), run)
