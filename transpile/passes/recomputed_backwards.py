"""A torch.autograd.Function whose backward is the derivative of its forward, which it runs again,
is a function that is checkpointed.

class Again(torch.autograd.Function):             def again(run, n, *args):
    @staticmethod                                     tensors = list(args[:n])
    def forward(ctx, run, n, *args):                  return torch.utils.checkpoint.checkpoint(
        ctx.run = run                                     run, *tensors, use_reentrant=False
        ctx.tensors = list(args[:n])                  )
        ctx.weights = list(args[n:])
        with torch.no_grad():
            return ctx.run(*ctx.tensors)
    @staticmethod
    def backward(ctx, *grads):                →
        copies = [x.detach().requires_grad_() for x in ctx.tensors]
        with torch.enable_grad():
            out = ctx.run(*copies)
        found = torch.autograd.grad(out, copies + ctx.weights, grads)
        return (None, None) + found

y = Again.apply(f, 2, x, w, *weights)             y = again(f, 2, x, w, *weights)

What torch differentiates by are the arguments alone, and JAX by all that is run depends on.
"""

import re
from typing import Any

from ..model.constants import is_none
from ..model.copy import clone, moved_copy
from ..model.edits import block_of
from ..model.expressions import Attribute, Call, Comprehension, Constant, Display, Name, Starred
from ..model.fresh_names import free, taken
from ..model.names import (
    below,
    dotted,
    everywhere,
    imported,
    is_called,
    is_name,
    is_target,
    last_word,
    root,
)
from ..model.node import Expression, Node
from ..model.operators import Binary
from ..model.program import Class, Function, Scope
from ..model.project import Project
from ..model.statements import Assign, ExpressionStatement, Return, With
from .pass_ import Changes, Pass

_COPIES = frozenset(("detach", "requires_grad_", "view_as", "clone"))
_CAPTURED = (
    "backward runs this again: its gradients are of all that is run depends on, in torch of the "
    "arguments alone"
)


def run(project: Project, facts: Any = None) -> list[Changes]:
    """The functions in the place of such classes, and calls of them."""
    found = []
    for file in project.ordered:
        for cls in [c for c in file.classes() if project.is_autograd_function(c)]:
            methods, torch = project.methods(cls), _torch(cls)
            forward, backward = methods.get("forward"), methods.get("backward")
            calls = _calls(project, cls) if cls.nearest(Scope) is file else []
            if forward is None or backward is None or torch is None or not calls:
                continue
            made = moved_copy(forward)
            again = _run_again(made, backward)
            if again is None or not _is_plain(made, again):
                continue
            _check_point(again, torch)
            function = Function(free(_lower(cls.name), taken(file)), made.parameters, made.body)
            function.file, function.comments = file, cls.comments
            changes = Changes(file)
            changes.report("taken-for-granted", cls, _CAPTURED)
            changes.substitute(cls, [function])
            found.append(changes)
            for call in calls:
                inside = Changes(call.nearest(Scope) or file)
                inside.replace(call.function, Name(function.name))
                found.append(inside)
    return found


def _lower(name: str) -> str:
    """`CheckpointFunction` as the name of a function."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _calls(project: Project, cls: Class) -> list[Call]:
    """The calls `Again.apply(x)`; none where the class is used in another way, or elsewhere."""
    assert cls.file is not None
    named = [n for n in everywhere(cls.file, Name) if n.id == cls.name]
    applied = [
        n.parent.parent
        for n in named
        if isinstance(n.parent, Attribute) and n.parent.name == "apply" and is_called(n.parent)
    ]
    others = [f for f in project.ordered if f is not cls.file]
    abroad = any(project.resolve(f, cls.name) is cls for f in others)
    return [] if abroad or len(applied) < len(named) else applied  # type: ignore[return-value]


def _torch(cls: Class) -> Expression | None:
    """The name that the file has for torch, as one of its bases is written."""
    for base in cls.bases:
        name = root(base)
        if name is not None and imported(cls, name) == "torch":
            return clone(name)
    return None


def _run_again(forward: Function, backward: Function) -> Call | None:
    """The call of forward that backward runs again on copies, to give the gradients of that."""
    if not forward.parameters or len(backward.parameters) != 2:
        return None
    ctx, cotangents = (p.name for p in backward.parameters)
    grads = [
        n for n in backward.nodes(Call) if imported(backward, n.function) == "torch.autograd.grad"
    ]
    if len(grads) != 1 or len(grads[0].positional) < 3:
        return None
    outputs, _, given = grads[0].positional[:3]
    if dotted(given) != cotangents or not _gives(backward, grads[0]):
        return None
    ran = _value(backward, outputs)
    if not isinstance(ran, Call) or not _is_part(ran.function, ctx):
        return None
    word, copied = last_word(ran.function), [_field(_value(backward, a)) for a in _spread(ran)]
    context = forward.parameters[0].name
    for call in below(forward, Call):
        if _is_part(call.function, context) and last_word(call.function) == word:
            fields = [a.name if isinstance(a, Attribute) else None for a in _spread(call)]
            if None not in fields and copied == fields:
                return call
    return None


def _spread(call: Call) -> list[Expression]:
    """What a call is given, without the star: `ctx.tensors` of `ctx.run(*ctx.tensors)`."""
    return [a.expression if isinstance(a, Starred) else a for a in call.arguments]


def _field(value: Expression | None) -> str | None:
    """`tensors` of `[x.detach().requires_grad_(True) for x in ctx.tensors]`"""
    if isinstance(value, Comprehension) and len(value.clauses) == 1:
        clause, element = value.clauses[0], value.element
        while isinstance(element, Call) and isinstance(element.function, Attribute):
            if element.function.name not in _COPIES:
                return None
            element = element.function.object
        same = isinstance(element, Name) and element.id == dotted(clause.target)
        return _field(clause.iterable) if same else None
    return value.name if isinstance(value, Attribute) and isinstance(value.object, Name) else None


def _value(function: Function, node: Expression) -> Expression | None:
    """What a name is bound to, in the only place where it is."""
    if not isinstance(node, Name):
        return node
    bound = [a for a in function.nodes(Assign) if dotted(a.targets[0]) == node.id]
    return bound[0].expression if len(bound) == 1 else None


def _gives(backward: Function, grad: Call) -> bool:
    """Whether gradients are given as they are, with None before them."""
    given = [r.expression for r in backward.nodes(Return)]
    if len(given) != 1 or given[0] is None:
        return False
    gradients = 0
    todo: list[Node] = [given[0]]
    while todo:
        node = todo.pop()
        if node is grad or isinstance(node, Name) and _value(backward, node) is grad:
            gradients += 1
        elif isinstance(node, (Binary, Display, Starred)) or is_none(node):
            todo += node.children()
        else:
            return False
    return gradients == 1


def _is_plain(forward: Function, again: Call) -> bool:
    """Whether it is a function without the context, once what it keeps there is left out; it is
    written so."""
    context, *rest = forward.parameters
    names, fields = {p.name for p in rest}, list(below(forward, Attribute))
    read = {n.name for n in fields if _is_part(n, context.name) and not is_target(n)}
    for assign in [a for a in below(forward, Assign) if _is_part(a.targets[0], context.name)]:
        kept = assign.targets[0].name  # type: ignore[attr-defined]
        if kept not in read or dotted(assign.expression) == kept:
            block_of(assign).remove(assign)
        elif kept in names:
            return False
    for statement in list(below(forward, ExpressionStatement)):
        call = statement.expression
        if isinstance(call, Call) and _is_part(call.function, context.name):
            if not any(n is again for n in call.walk()):  # ctx.save_for_backward(x)
                block_of(statement).remove(statement)
    for within in list(below(forward, With)):
        if any(last_word(getattr(c, "function", None)) != "no_grad" for c, _ in within.pairs):
            return False
        within.unwrap()
    for part in [n for n in forward.walk() if _is_part(n, context.name)]:
        part.replace(Name(part.name))  # type: ignore[attr-defined]
    forward.parameters = rest
    return not any(is_name(n, context.name) for n in forward.walk())


def _is_part(node: Node | None, context: str) -> bool:
    return isinstance(node, Attribute) and is_name(node.object, context)


def _check_point(again: Call, torch: Expression) -> None:
    """`torch.utils.checkpoint.checkpoint(run, *tensors, use_reentrant=False)`"""
    again.arguments.insert(0, again.function)
    again.keywords.insert(0, None)
    again.function = Attribute(Attribute(Attribute(torch, "utils"), "checkpoint"), "checkpoint")
    again.adopt()
    again.restate()
    again.append(Constant(False), "use_reentrant")


PASS = Pass("recomputed_backwards", (), run, of_project=True)
