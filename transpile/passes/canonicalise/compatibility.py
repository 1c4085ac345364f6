"""What stands in for what torch has no more, and for libraries on torch: in JAX such an import
fails, and what a file sets where it fails decides its branches.

    try:
        from apex.normalization import FusedLayerNorm
        class Norm(FusedLayerNorm): ...
    except ImportError:                       →     from torch.nn import LayerNorm as Norm
        from torch.nn import LayerNorm as Norm

    try:
        from xformers.ops import attention
        THERE = True
    except ImportError:                             THERE = False
        THERE = False
    def f(q, k):                              →     def f(q, k):
        if THERE:                                       return q @ k
            return attention(q, k)
        return q @ k
"""

import re
from collections.abc import Iterator
from functools import partial

from ...model.constants import is_none
from ...model.expressions import Call, Constant, Name, NamedExpression, OpaqueExpression
from ...model.fallthrough import completes
from ...model.libraries import canonical, computes_with_torch, is_built_on_torch
from ...model.names import (
    binds,
    bound_name,
    dotted,
    everywhere,
    in_scope,
    is_called,
    names_assigned,
)
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Compare, Conditional, Unary
from ...model.program import Class, File, Function
from ...model.statements import Assign, Block, For, If, Import, Raise, Try, With
from ..pass_ import Changes

# What files try to import that torch has no more, and what is below it.
_DROPPED = re.compile(
    r"torch\.(_six|rfft|irfft|ifft|gels|btrifact|nn\.modules\.linear\._LinearWithBias)(\.|$)"
)
_FAILED = frozenset(("ImportError", "ModuleNotFoundError", "Exception"))
_ACTS = (Call, NamedExpression, OpaqueExpression)


def stand_in(changes: Changes, node: Try, gone: set[Node]) -> bool:
    """Put what is done where the import of a try fails in its place, and decide what asks whether
    it did, but for what went with another, which is put to `gone`; whether it is such a try, and
    nothing but functions would miss what it imports."""
    scope = changes.scope
    alone = len(node.handlers) == 1 and node.final is None and isinstance(node.parent, Block)
    if not isinstance(scope, File) or not alone or not _fails(node.body):
        return False
    handler = node.handlers[0]
    caught = dotted(handler.type) if handler.type is not None else "ImportError"
    ends = not completes(handler.body)  # `raise ImportError("install apex")`: it is not needed
    if handler.name is not None and not ends or caught not in _FAILED:
        return False
    lost = _Lost(scope, node, gone)
    if any(ends or not lost.is_raised(use) for use in lost.uses):
        return False
    lost.settle(changes)
    gone |= lost.gone
    changes.change(node, _leave if ends else _fall_back)
    return True


def _leave(node: Try) -> None:
    assert isinstance(node.parent, Block)
    node.parent.remove(node)


def _fall_back(node: Try) -> None:
    assert isinstance(node.parent, Block)
    node.parent.unfold(node, node.handlers[0].body)


def _fails(block: Block) -> bool:
    """Whether each way through a block imports what is not there, or says that an import fails:
    `if ENABLED: from xformers.ops import SwiGLU`, `else: raise ImportError`."""
    for statement in block.body:
        if isinstance(statement, If) and statement.orelse is not None:
            if _fails(statement.body) and _fails(statement.orelse):
                return True
        elif isinstance(statement, Raise):
            what = statement.exception
            return dotted(what.function if isinstance(what, Call) else what) in _FAILED
        elif isinstance(statement, Import) and any(map(_is_missing, _meant(statement))):
            return True
    return False


def _is_missing(name: str) -> bool:
    if _DROPPED.match(name):
        return True
    whole = is_built_on_torch(name) and "." not in name  # `import apex`, `HAS_APEX = True`
    return (whole or computes_with_torch(name)) and canonical(name) == name and name[:4] != "timm"


def _meant(statement: Import) -> list[str]:
    whole = statement.module is None  # `import apex.amp`, which binds `apex`
    return [name.name if whole else statement.meaning(name) for name in statement.names]


class _Lost:
    """What a file loses with an import that fails: `uses` of its names, and the branches that
    those constants decide that are set where it fails."""

    def __init__(self, file: File, attempt: Try, before: set[Node]) -> None:
        self.before = before
        handler = attempt.handlers[0].body
        tried = [attempt.body, *([attempt.orelse] if attempt.orelse is not None else [])]
        imported = {
            one.bound: statement.meaning(one)
            for block in tried
            for statement in in_scope(block, Import)
            for one in statement.names
        }
        self.flags = _flags(file, attempt)
        kept = {*names_assigned(handler), *_imported(handler), *self.flags}
        named = {*imported, *(name for block in tried for name in names_assigned(block))}
        self.meaning = {name: imported.get(name, name) for name in named - kept}
        self.gone: set[Node] = {*tried}
        self.ways: list[tuple[If | Conditional, bool]] = []
        asked: list[If | Conditional] = [*everywhere(file, If), *everywhere(file, Conditional)]
        for node in asked if self.flags else ():
            self._decide(node)
        self.uses = [n for n in everywhere(file, Name) if self._loses(n)]

    def _loses(self, name: Name) -> bool:
        return name.id in self.meaning and not self._is_gone(name)

    def is_raised(self, use: Name) -> bool:
        """Whether a use may raise where it stands: in a function of a file that has something to
        ask whether the import failed."""
        inner = use.nearest(Function, Class)
        return bool(self.flags) and isinstance(inner, Function) and use not in inner.decorators

    def settle(self, changes: Changes) -> None:
        """Leave the ways that are taken, and let raise what is still used."""
        for node, way in self.ways:
            if isinstance(node, If):
                changes.change(node, partial(If.decide, way=way))
            else:
                changes.replace(node, node.body if way else node.orelse)
        for unreached in self.gone:
            if isinstance(unreached, Statement):
                changes.remove(unreached)
        for use in self.uses:
            message = f"{self.meaning[use.id]} is built on torch, and has no JAX equivalent here"
            raised = use.parent if is_called(use) else use
            assert isinstance(raised, Expression)
            changes.unconverted("no-rule", raised, message)

    def _is_gone(self, node: Node) -> bool:
        return any(n in self.gone or n in self.before for n in (node, *node.ancestors()))

    def _decide(self, node: If | Conditional) -> None:
        way = None if self._is_gone(node.test) else self._truth(node.test)
        if way is None:
            return
        self.ways.append((node, way))
        kept, other = (node.body, node.orelse) if way else (node.orelse, node.body)
        self.gone.update(part for part in (node.test, other) if part is not None)
        block = node.parent
        if isinstance(node, If) and isinstance(block, Block) and block.form != "elif":
            ends = isinstance(kept, Block) and not completes(kept)
            at = next(i for i, s in enumerate(block.body) if s is node)
            self.gone.update(block.body[at + 1 :] if ends else ())

    def _truth(self, test: Expression) -> bool | None:
        """What the flags make of a condition."""
        if isinstance(test, Name):
            return bool(self.flags[test.id].constant) if test.id in self.flags else None
        if isinstance(test, Unary) and test.operator == "not":
            inner = self._truth(test.operand)
            return None if inner is None else not inner
        if isinstance(test, Compare) and len(test.operators) == 1:
            one, other = test.operands
            if isinstance(one, Name) and one.id in self.flags and is_none(other):
                same = is_none(self.flags[one.id])
                return {"is": same, "is not": not same}.get(test.operators[0])
        if not isinstance(test, Boolean):
            return None
        ends = test.operator == "or"
        left, right = self._truth(test.left), self._truth(test.right)
        if (
            left is ends
            or right is ends
            and not any(isinstance(n, _ACTS) for n in test.left.walk())
        ):
            return ends
        return None if left is None or right is None else not ends


def _flags(file: File, node: Try) -> dict[str, Constant]:
    """The names that a file sets to a constant where an import fails, or before it, and nowhere
    else but where it does not."""
    before = node.parent.body if isinstance(node.parent, Block) else []
    before = before[: next(i for i, s in enumerate(before) if s is node)]
    found: dict[str, Constant] = {}
    settings = set[Node]()
    for statement in [*before, *node.handlers[0].body.body]:
        name = bound_name(statement)
        if name and isinstance(statement, Assign) and isinstance(statement.expression, Constant):
            found[name] = statement.expression
            settings.add(statement)
    inside = set(node.walk())
    for bound, name in _bound(file):
        if bound not in settings and (bound not in inside or node.handlers[0] in bound.ancestors()):
            found.pop(name, None)
    set_there = {*names_assigned(node.body), *_imported(node.body)}
    set_there.update(names_assigned(node.orelse) if node.orelse is not None else ())
    return {name: constant for name, constant in found.items() if name in set_there}


def _bound(file: File) -> Iterator[tuple[Node, str]]:
    """What binds a name anywhere in a file."""
    for node in everywhere(file, Assign, For, With, NamedExpression, Function, Class, Import):
        names = [n.bound for n in node.names] if isinstance(node, Import) else binds(node)
        yield from ((node, name) for name in names)
        if isinstance(node, Function):
            yield from ((parameter, parameter.name) for parameter in node.parameters)


def _imported(block: Block) -> set[str]:
    return {name.bound for statement in in_scope(block, Import) for name in statement.names}
