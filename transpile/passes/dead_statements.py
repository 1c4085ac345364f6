"""Statements of which nothing is left go: what torch placed, synchronised or freed.

torch.cuda.synchronize()     None         nothing
x.requires_grad_()           x        →   nothing
x = x.to(device)             x = x        nothing
device = x.device            None         nothing, where nothing reads the name any more

conv = weight_norm(conv)     what weight norm computes anew at each call is not kept, in torch
conv.weight.data.normal_()   either, which is said

What the user wrote like that stays, but for a lone None, and so do names that have a comment behind
them.
"""

from typing import Any

from ..facts.modules import Modules
from ..facts.values.attribute_names import WALKS
from ..facts.values.lattice import Module
from ..model.constants import is_none
from ..model.effects import Read, Write
from ..model.expressions import Attribute, Call, Display, Name, NamedExpression, OpaqueExpression
from ..model.layout import comments
from ..model.names import dotted
from ..model.node import Expression, Statement
from ..model.program import File, Function, Scope
from ..model.statements import Assign, Block, ExpressionStatement, For, If
from ..model.statements import Pass as PassStatement
from .pass_ import Changes, Pass


def run(scope: Scope, facts: Any = None) -> Changes:
    """Take them out of one scope; of a file or a class the lone Nones."""
    changes = Changes(scope)
    is_idle = _is_idle if isinstance(scope, Function) else _is_lone_none
    idle = set(filter(is_idle, scope.nodes(*_KINDS)))
    if isinstance(scope, Function):
        idle |= {a for a in scope.nodes(Assign) if _is_placed(a) and _is_unread(a, scope)}
    for write in scope.nodes(Write) if facts is not None else ():
        if _is_lost(write, facts.modules):
            changes.report("taken-for-granted", write, _LOST)
            idle.add(write)
    _block(scope.body, changes, idle)  # type: ignore[attr-defined]
    return changes


def _block(block: Block, changes: Changes, idle: set[Statement]) -> bool:
    """See to a block; says whether nothing of it is left."""
    going: list[Statement] = []
    for statement in block.body:
        inner = [b for b in statement.children() if isinstance(b, Block)]
        if isinstance(statement, Scope):
            continue
        empty = [_block(b, changes, idle) for b in inner]
        if statement in idle or inner and all(empty) and _is_plain(statement):
            going.append(statement)
            continue
        for part, is_empty in zip(inner, empty):
            if is_empty:
                changes.substitute(part.body[0], [PassStatement()])
                for rest in part.body[1:]:
                    changes.remove(rest)
    if block.body and len(going) == len(block.body):
        if not isinstance(block.parent, Scope):
            return True
        if not isinstance(block.parent, File):
            changes.substitute(block.body[0], [PassStatement()])
            going = going[1:]
    for statement in going:
        changes.remove(statement)
    return False


_KINDS = (ExpressionStatement, Assign)
_LOST = (
    "weight norm computes this array from others: what is written here is gone at the next call, "
    "in torch too"
)


def _is_idle(statement: Statement) -> bool:
    """Whether a pass has left nothing of it."""
    if _is_lone_none(statement):
        return True
    if not statement.touched or comments(statement)[1]:
        return False
    if isinstance(statement, ExpressionStatement):
        return isinstance(statement.expression, Name)
    if not isinstance(statement, Assign) or statement.operator or statement.annotation is not None:
        return False
    value = statement.expression
    return len(statement.targets) == 1 and value is not None and _same(statement.targets[0], value)


def _is_placed(statement: Assign) -> bool:
    """Whether a pass has left None of what a name is set to."""
    value = statement.expression
    plain = not statement.operator and statement.annotation is None and len(statement.targets) == 1
    made = value is not None and is_none(value) and value.start < 0
    return plain and made and isinstance(statement.targets[0], Name) and not comments(statement)[1]


def _is_unread(statement: Assign, function: Function) -> bool:
    target = statement.targets[0]
    named = (n for n in function.walk() if isinstance(n, Name) and n is not target)
    return all(n.id != target.id for n in named)  # type: ignore[attr-defined]


def _is_lost(write: Write, modules: Modules) -> bool:
    """Whether weight norm alone computes the array that is written."""
    target = write.target
    if not isinstance(target, Read) or target.name != "weight":
        return False
    value = target.object.value
    known = isinstance(value, Module) and not value.open
    return known and modules.is_normed(target) is True


def _is_lone_none(statement: Statement) -> bool:
    return isinstance(statement, ExpressionStatement) and is_none(statement.expression)


def _same(target: Expression, value: Expression) -> bool:
    """`x = x`, `x, y = x, y`"""
    if isinstance(target, Name):
        return isinstance(value, Name) and target.id == value.id
    if not isinstance(target, Display) or not isinstance(value, Display):
        return False
    pairs = list(zip(target.elements, value.elements))
    return len(target.elements) == len(value.elements) and all(_same(t, v) for t, v in pairs)


def _is_plain(node: Statement) -> bool:
    """Whether a branch or loop with nothing in it can go: its test, or what it goes over, does
    nothing, either."""
    doing = (NamedExpression, OpaqueExpression)
    asked = node.test if isinstance(node, If) else node.iterable if isinstance(node, For) else None
    if asked is None or any(isinstance(n, doing) for n in asked.walk()):
        return False
    return all(_is_asking(n.function) for n in asked.walk() if isinstance(n, Call))


def _is_asking(function: Expression) -> bool:
    """`hasattr`, `self.children`"""
    word = function.name if isinstance(function, Attribute) else dotted(function)
    return word in ("hasattr", "isinstance", *WALKS)


PASS = Pass("dead_statements", (), run)
