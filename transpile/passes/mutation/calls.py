"""Which of torch's calls write in place, what they write, and their forms that return the new value instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst

from ... import tree
from ...context import Context
from ...function_values import callees
from ...inplace import (
    gives_back,
    inplace_argument,
    is_inplace_name,
    is_known_method,
    is_old_spelling,
    out_argument,
    says_inplace,
)
from ...numpy_writes import METHODS
from ...project import ClassInfo, FunctionInfo
from ...values import UNKNOWN, Class, External, Function, Method, Module, Tensor, Torch
from .frame import Frame
from .states import may_be_named
from .summaries import Mutations


@dataclass(frozen=True)
class Write:
    """A call that writes in place, and the expression that it writes."""

    form: str  # "method" `x.add_(y)`, "out" `torch.add(x, y, out=z)`, "function" `F.relu_(x)`, "module" `self.relu(x)`
    subject: Any
    argument: Any = None  # the argument that it is, of a function


def written_by(frame: Frame, node: Any) -> Write | None:
    """What a call writes in place; None where it writes nothing of torch's."""
    value = frame.value(node.func) if isinstance(node, cst.Call) else None
    if isinstance(value, Method) and isinstance(node.func, cst.Attribute):
        return _method(frame, node, value)
    if isinstance(value, Torch):
        return _function(frame, node, value)
    if isinstance(value, Module) and gives_back(frame.views, value) and node.args:
        subject = node.args[0].value
        if isinstance(subject, (cst.Name, cst.Attribute, cst.Subscript)) and frame.is_tensor(subject) and frame.runs:
            return Write("module", subject)
    return None


def _method(frame: Frame, node: Any, value: Method) -> Write | None:
    if not is_inplace_name(value.name) or not (isinstance(value.receiver, (Tensor, Method)) or value.receiver == UNKNOWN):
        return None
    if frame.views.get(value.name) == "same" or not is_known_method(frame.context, value.name):
        return None
    chained = written_by(frame, node.func.value)  # x.mul_(a).add_(b)
    return Write("method", chained.subject if chained is not None else node.func.value)


def _function(frame: Frame, node: Any, value: Torch) -> Write | None:
    out = out_argument(node)
    if out is not None and tree.code(out.value) != "None":
        return Write("out", out.value, out)
    if is_inplace_name(value.name) or says_inplace(frame.context, node) or is_old_spelling(frame.context, value.name):
        first = next((a for a in node.args if a.keyword is None or a.keyword.value in ("tensor", "input")), None)
        return Write("function", first.value, first) if first is not None else None
    return None


def applied(context: Context, node: cst.Call) -> FunctionInfo | None:
    """The forward of a torch.autograd.Function that a call runs: `Scale.apply(x)`, or `scale(x)` after `scale = Scale.apply`."""
    value = context.value(node.func)
    owner = value.receiver if isinstance(value, Method) and value.name == "apply" else None
    if not isinstance(owner, Class) or not isinstance(owner.ref, ClassInfo) or not owner.ref.is_autograd_function:
        return None
    return owner.ref.find("forward")


def may_write(context: Context, node: cst.FunctionDef, info: FunctionInfo, mutations: Mutations) -> bool:
    """Whether there may be anything to do for the pass in a function: most have no such call."""
    for n in tree.nodes(node.body, cst.AugAssign, cst.AssignTarget, cst.Call):
        if isinstance(n, cst.AugAssign) or isinstance(n, cst.AssignTarget) and not isinstance(n.target, cst.Name):
            return True
        if isinstance(n, cst.Call) and (_call_may_write(context, n, mutations) or chosen_writers(context, info, n, mutations)):
            return True
    return may_be_named(context, node, mutations)


def chosen_writers(context: Context, info: FunctionInfo, node: cst.Call, mutations: Mutations) -> list[FunctionInfo]:
    """Of the functions that write their arguments, those that a call may run by a choice or a table: `f if flag else g`, `table[k]`."""
    if not mutations.writes or isinstance(context.value(node.func), (Function, Method, Torch, Class)):
        return []
    found = (c.function for c in callees(context, info, node.func))
    return [f for f in found if isinstance(f, FunctionInfo) and f in mutations.writes]


def _call_may_write(context: Context, node: cst.Call, mutations: Mutations) -> bool:
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else node.func.value if isinstance(node.func, cst.Name) else ""
    if is_inplace_name(name) or out_argument(node) is not None or inplace_argument(context, node) is not None:
        return True
    value = context.value(node.func)
    if (forward := applied(context, node)) is not None:
        return forward in mutations.writes
    if isinstance(value, Function):
        return value.info in mutations.writes or value.info in mutations.elements
    if name in METHODS or isinstance(value, External) and value.name.startswith("numpy."):
        return True
    if isinstance(value, Method):
        return any(f.name == value.name and f.owner is not None for f in mutations.writes)
    if isinstance(value, Torch):
        return value.name in context.rulebook.table("UPDATES_IF") or is_old_spelling(context, value.name)
    if isinstance(value, Module):
        forwards = (context.facts.forward_of(ref) for ref in value.refs)
        return value.inplace is not False or bool(value.items) or value.element is not None or any(f is not None and f in mutations.writes for f in forwards)
    return False


# ---------------------------------------------------------------------- forms that return the new value


def method_form(frame: Frame, node: Any, receiver: Any, args: list[Any]) -> Any:
    """`x.add(y)` for `x.add_(y)`: without the underscore, unless the rule is of the name with it."""
    facts, value = frame.facts, frame.value(node.func)
    assert isinstance(value, Method)
    plain = value.name if frame.context.rulebook.find("torch.Tensor." + value.name) else value.name[:-1]
    func = cst.Attribute(tree.fit(cst.Attribute(cst.Name("x"), cst.Name("y")), "value", receiver), cst.Name(plain))
    facts.tell(func, Method(Tensor(), plain))
    new = tree.replace(node, func=func, args=args)
    facts.tell(new, Tensor())
    facts.origin[id(new)] = facts.origin.get(id(node), node)
    return new


def function_form(frame: Frame, node: Any, args: list[Any]) -> Any:
    """`F.relu(x)` for `F.relu_(x)`, where only that has a rule; `F.relu(x)` for `F.relu(x, inplace=True)`."""
    made, find = with_args(frame, node, args), frame.context.rulebook.find
    value = frame.value(node.func)
    if not isinstance(value, Torch) or not value.name.endswith("_") or find(value.name) or not find(value.name[:-1]):
        return made
    plain = cst.Name(value.name.rpartition(".")[2][:-1])
    func = tree.replace(node.func, attr=plain) if isinstance(node.func, cst.Attribute) else plain
    frame.facts.tell(func, Torch(value.name[:-1]))
    made = tree.replace(made, func=func)
    frame.facts.carry(node, made)
    return made


def with_args(frame: Frame, node: Any, args: list[Any]) -> Any:
    """The call with other arguments, the last without a comma behind it."""
    if args:
        args = [*args[:-1], tree.replace(args[-1], comma=cst.MaybeSentinel.DEFAULT)]
    new = tree.replace(node, args=args)
    frame.facts.carry(node, new)
    return new
