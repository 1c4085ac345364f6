"""A module that is built as another one, and then given its values, is a copy of it.

    self.q = Encoder(dim)                                  self.q = Encoder(dim)
    self.k = Encoder(dim)                            →     self.k = copy.deepcopy(self.q)
    self.k.load_state_dict(self.q.state_dict())

    for q, k in zip(self.q.parameters(), self.k.parameters()):
        k.data.copy_(q.data)                         →     for k in self.k.parameters():
        k.requires_grad = False                                k.requires_grad = False

What the constructor does to one of them until then it does to the other, in the same words.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..model.edits import leave_out
from ..model.expressions import Attribute, Call, Display, Name
from ..model.names import bound_once, dotted, names_assigned, text
from ..model.node import Expression, Node, Statement
from ..model.program import File, Function, Scope
from ..model.statements import Assign, Block, ExpressionStatement, For, If, Import, Imported, With
from .pass_ import Changes, Pass

_SIZES = re.compile(r"\.(shape|size\(|(in|out)_(features|channels)\b|\w*(dim|width|hidden)\w*)")


class _Start(NamedTuple):
    """What gives the module at one path the values of that at another; `kept`: what else it does
    to the params of the first, by the name that they have there."""

    module: str
    other: str
    params: Name | None = None
    kept: tuple[Statement, ...] = ()


def run(scope: Scope, facts: Any = None) -> Changes:
    """Let the constructor of a class copy modules."""
    changes = Changes(scope)
    if not isinstance(scope, Function) or scope.name != "__init__" or not scope.parameters:
        return changes
    for statement in scope.body.body:
        start = _start(statement, scope.receiver)
        if start is not None and (gone := _made_alike(scope, statement, start)):
            for made in gone:
                changes.change(made, leave_out)
            changes.substitute(statement, _copied(scope, statement, start))
            if not _deepcopy(scope):
                _import(scope, changes)
    return changes


def _start(statement: Statement, me: str) -> _Start | None:
    """What a statement gives the values of another module, both set on `self`."""
    while isinstance(statement, With) and len(statement.body.body) == 1:
        statement = statement.body.body[0]  # under no_grad()
    found = None
    if isinstance(statement, ExpressionStatement) and isinstance(statement.expression, Call):
        found = _loaded(statement.expression)
    elif isinstance(statement, For):
        found = _gone_over(statement)
    own = rf"{me}\.\w+"
    if found is None or found.module == found.other:
        return None
    return found if all(re.fullmatch(own, path) for path in found[:2]) else None


def _loaded(call: Call) -> _Start | None:
    """`self.k.load_state_dict(self.q.state_dict())`"""
    given = call.arguments[0] if len(call.arguments) == 1 else None
    if not isinstance(given, Call) or given.arguments:
        return None
    module, first, _ = (dotted(call.function) or "").rpartition(".load_state_dict")
    other, second, _ = (dotted(given.function) or "").rpartition(".state_dict")
    return _Start(module, other) if first and second else None


def _gone_over(loop: For) -> _Start | None:
    """`for q, k in zip(self.q.parameters(), self.k.parameters()): k.data.copy_(q.data)`"""
    over, names = loop.iterable, loop.target
    if not isinstance(over, Call) or dotted(over.function) != "zip" or len(over.arguments) != 2:
        return None
    lists = [dotted(a.function) or "" for a in over.arguments if isinstance(a, Call)]
    if not isinstance(names, Display) or len(names.elements) != 2 or loop.orelse is not None:
        return None
    if len(lists) != 2 or not all(name.endswith(".parameters") for name in lists):
        return None
    paths = [name.removesuffix(".parameters") for name in lists]
    for k, q in ((0, 1), (1, 0)):
        to, of = names.elements[k], names.elements[q]
        if isinstance(to, Name) and isinstance(of, Name):
            rest = [s for s in loop.body.body if not _copies(s, to.id, of.id)]
            if len(rest) + 1 == len(loop.body.body) and all(_freezes(s, to.id) for s in rest):
                return _Start(paths[k], paths[q], to, tuple(rest))
    return None


def _copies(statement: Statement, to: str, of: str) -> bool:
    """`k.data.copy_(q.data)`, `k.data = q.data.clone()`"""
    if isinstance(statement, Assign) and not statement.operator and len(statement.targets) == 1:
        value = dotted(getattr(statement.expression, "function", None))
        return dotted(statement.targets[0]) == f"{to}.data" and value in (
            f"{of}.data.clone",
            f"{of}.clone",
        )
    call = statement.expression if isinstance(statement, ExpressionStatement) else None
    if not isinstance(call, Call) or len(call.arguments) != 1:
        return False
    written = dotted(call.function) in (f"{to}.data.copy_", f"{to}.copy_")
    return written and dotted(call.arguments[0]) in (of, f"{of}.data")


def _freezes(statement: Statement, name: str) -> bool:
    """`k.requires_grad = False`"""
    if isinstance(statement, Assign):
        return [dotted(t) for t in statement.targets] == [f"{name}.requires_grad"]
    call = statement.expression if isinstance(statement, ExpressionStatement) else None
    return isinstance(call, Call) and dotted(call.function) == f"{name}.requires_grad_"


def _made_alike(init: Function, until: Statement, start: _Start) -> list[Statement]:
    """The statements that make a module as the other one is made; none where they differ."""
    body, once = init.body.body, bound_once(init)
    before = [leaf for s in body[: body.index(until)] for leaf in _leaves(s)]
    ours = [leaf for leaf in before if _names(leaf[1], start.module)]
    theirs = [leaf for leaf in before if _names(leaf[1], start.other) and not _measures(leaf[1])]
    first = ours[0][1] if ours else None
    if not isinstance(first, Assign) or not isinstance(first.expression, Call):
        return []
    word = re.compile(rf"\b{re.escape(start.module)}\b")
    said = [(tests, word.sub(start.other, text(s))) for tests, s in ours]
    if not all(text for _, text in said) or said != [(tests, text(s)) for tests, s in theirs]:
        return []
    read = {n.id for _, s in ours for n in s.walk() if isinstance(n, Name)}
    if any(name in read - once for name in names_assigned(init.body)):
        return []  # it may be another value for each of the two
    return [s for _, s in ours]


def _leaves(statement: Statement) -> Iterator[tuple[tuple[str, ...], Statement]]:
    """The statements in branches, with what is asked of them."""
    if not isinstance(statement, If):
        yield (), statement
        return
    for word, block in (("if", statement.body), ("else", statement.orelse)):
        for inner in block.body if block is not None else ():
            for tests, leaf in _leaves(inner):
                yield (f"{word} {text(statement.test)}", *tests), leaf


def _names(node: Node, path: str) -> bool:
    return any(isinstance(n, Attribute) and dotted(n) == path for n in node.walk())


def _measures(statement: Statement) -> bool:
    """`width = self.q.fc.weight.shape[1]`"""
    plain = isinstance(statement, Assign) and all(isinstance(t, Name) for t in statement.targets)
    return plain and _SIZES.search(text(statement)) is not None


def _copied(init: Function, statement: Statement, start: _Start) -> list[Statement]:
    name = _deepcopy(init)
    function: Expression = Name(name) if name else Attribute(Name("copy"), "deepcopy")
    if "." in name:
        function = Attribute(Name(name.partition(".")[0]), "deepcopy")
    made: list[Statement] = [Assign([_path(start.module)], Call(function, [_path(start.other)]))]
    if start.kept and start.params is not None:
        each = Call(Attribute(_path(start.module), "parameters"), [])
        made.append(For(Name(start.params.id), each, Block(start.kept)))
    return made


def _path(path: str) -> Attribute:
    me, _, name = path.partition(".")
    return Attribute(Name(me), name)


def _deepcopy(init: Function) -> str:
    """What the file calls `copy.deepcopy`; nothing where it has no name for that."""
    for statement in init.file.nodes(Import) if init.file is not None else ():
        for name in statement.names:
            meaning = statement.meaning(name)
            if meaning in ("copy", "copy.deepcopy"):
                return f"{name.bound}.deepcopy" if meaning == "copy" else name.bound
    return ""


def _import(init: Function, changes: Changes) -> None:
    assert isinstance(init.file, File)
    first = next(
        s for s in init.file.body.body if isinstance(s, Import) and s.module != "__future__"
    )
    changes.insert_before(first, [Import(None, [Imported("copy")])])


PASS = Pass("copied_initial_values", (), run)
