"""The statements that set attributes of self, and what changes one in place."""

from collections.abc import Iterator

from ...model.expressions import Attribute, Call, Constant, Name, Subscript
from ...model.names import dotted, leaves
from ...model.node import Expression, Node, Statement
from ...model.program import Function
from ...model.project import Project
from ...model.statements import Assign, ExpressionStatement


def written(function: Node, me: str = "") -> Iterator[tuple[Statement, str]]:
    """The statements that set an attribute of self, with its name: `self.mask = v`,
    `self.masks[n] = v`, `self.register_buffer("mask", v)`."""
    if isinstance(function, Function):
        me = function.receiver
    for node in function.walk():
        if isinstance(node, Assign):
            for target in [t for whole in node.targets for t in leaves(whole)]:
                whole = target.object if isinstance(target, Subscript) else target
                if isinstance(whole, Attribute) and dotted(whole.object) == me:
                    yield node, whole.name
        elif isinstance(node, ExpressionStatement) and isinstance(node.expression, Call):
            call = node.expression
            if dotted(call.function) == f"{me}.register_buffer" and len(call.arguments) > 1:
                if isinstance(call.arguments[0], Constant):
                    yield node, str(call.arguments[0].constant)


def is_changed(node: Expression, body: Node, known: frozenset[str] = frozenset()) -> bool:
    """Whether what an expression stands for is changed in place: `m.mul_(2)`, `m[0].zero_()`,
    `torch.add(x, y, out=m)`, also under a name that it is given, other than those `known`."""
    part, around = node, node.parent
    while isinstance(around, (Attribute, Subscript)) and around.object is part:
        part, around = around, around.parent
    if isinstance(around, Call):
        called = around.function is part and isinstance(part, Attribute)
        return called and part.name.endswith("_") or around.keyword("out") is part  # type: ignore[attr-defined]
    if not isinstance(around, Assign):
        return False
    if part in around.targets:
        return part is not node or bool(around.operator)
    names = {t.id for t in around.targets if isinstance(t, Name)} - known
    others = [n for n in body.walk() if isinstance(n, Name) and n.id in names]
    known |= names
    return any(is_changed(n, body, known) for n in others if n not in around.targets)


def changed_by_call(read: Attribute, project: Project, method: Function) -> bool:
    """Whether a function of the program changes in place what it is given: `fill(self.m)`."""
    call = read.parent
    name = dotted(call.function) if isinstance(call, Call) else None
    if not isinstance(call, Call) or name is None or method.file is None:
        return False
    own, owner = f"{project.self_name(method)}.", project.owner(method)
    if name.startswith(own) and owner is not None:
        target = project.methods(owner).get(name.removeprefix(own))
    else:
        found = project.resolve(method.file, name)
        target = found if isinstance(found, Function) else None
    names = {p.name for p in target.parameters} if target is not None else set()
    return target is not None and any(
        n.id in names and is_changed(n, target.body)
        for n in target.body.walk()
        if isinstance(n, Name)
    )
