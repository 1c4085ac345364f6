"""Which of torch's calls write in place, what they write, and their forms that return the new value instead."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import libcst as cst

from ... import tree
from ...callables import Scope, Target
from ...context import Context
from ...infer import Inference
from ...inplace import (
    gives_back,
    inplace_argument,
    is_handed,
    is_inplace_name,
    is_known_method,
    is_old_spelling,
    out_argument,
    says_inplace,
)
from ...numpy_writes import METHODS
from ...project import ClassInfo, FunctionInfo
from ...values import UNKNOWN, Class, External, Mapping, Method, Module, Sequence, Tensor, Torch
from .frame import Frame
from .states import may_be_named
from .summaries import Mutations

_CALLERS = frozenset({"builtins.map", "builtins.filter", "functools.reduce", "torch.utils.checkpoint.checkpoint"})  # what calls its first argument with the others


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
    if isinstance(node, cst.Call) and is_handed(frame.context, node) and says_inplace(frame.context, node):
        return Write("function", node.args[0].value, node.args[0])
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


def applied(facts: Inference, node: cst.Call) -> FunctionInfo | None:
    """The forward of a torch.autograd.Function that a call runs: `Scale.apply(x)`, or `scale(x)` after `scale = Scale.apply`."""
    value = facts.of(node.func)
    owner = value.receiver if isinstance(value, Method) and value.name == "apply" else None
    if not isinstance(owner, Class) or not isinstance(owner.ref, ClassInfo) or not owner.ref.is_autograd_function:
        return None
    return owner.ref.find("forward")


def given_by_torch(forward: FunctionInfo) -> int:
    """How many parameters of an autograd Function's forward `apply` gives it: the ctx, where that is not set up apart."""
    return 0 if forward.owner is None or "setup_context" in forward.owner.methods else 1


def may_write(context: Context, node: cst.FunctionDef, info: FunctionInfo, mutations: Mutations) -> bool:
    """Whether there may be anything to do for the pass in a function: most have no such call."""
    for n in tree.nodes(node.body, cst.AugAssign, cst.AssignTarget, cst.Call):
        if isinstance(n, cst.AugAssign) or isinstance(n, cst.AssignTarget) and not isinstance(n.target, cst.Name):
            return True
        if isinstance(n, cst.Call) and (_call_may_write(context, n, mutations) or _runs_what_writes(context, n, info, mutations)):
            return True
    return may_be_named(context, node, mutations)


def _call_may_write(context: Context, node: cst.Call, mutations: Mutations) -> bool:
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else node.func.value if isinstance(node.func, cst.Name) else ""
    if is_inplace_name(name) or out_argument(node) is not None or inplace_argument(context, node) is not None:
        return True
    value = context.value(node.func)
    if (forward := applied(context.facts, node)) is not None:
        return forward in mutations.writes
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


def _runs_what_writes(context: Context, node: cst.Call, info: FunctionInfo, mutations: Mutations) -> bool:
    """Whether a call may run a function of the user's that writes an argument, or what that holds."""
    targets = may_run(context.facts, mutations, handed_on(context.facts, node), Scope(context.module, info))
    return any(t.function in mutations.elements or writes_of(context.facts, mutations, t) for t in targets)


def handed_on(facts: Inference, node: cst.Call) -> cst.Call:
    """The call that a call makes with what it is given: `f(xs)` of `map(f, xs)` and `checkpoint(f, x)`."""
    value = facts.of(node.func)
    if not isinstance(value, (External, Torch)) or value.name not in _CALLERS or len(node.args) < 2 or node.args[0].keyword is not None or node.args[0].star:
        return node
    made = tree.replace(node, func=node.args[0].value, args=node.args[1:])
    facts.carry(node, made)
    return made


def may_run(facts: Inference, mutations: Mutations, node: cst.Call, scope: Scope) -> list[Target]:
    """The functions of the user's that a call may run, as far as some of them write at all."""
    if not mutations.writes and not mutations.elements or isinstance(facts.of(node.func), (Torch, Class, Sequence, Mapping)):
        return []
    return facts.callables.targets(node.func, scope)


def writes_of(facts: Inference, mutations: Mutations, target: Target) -> Set[str]:
    """The parameters that what a call runs writes in place; of a lambda those that it gives to what writes them."""
    if isinstance(target.function, FunctionInfo):
        return mutations.writes.get(target.function, frozenset())
    if id(target.function) in mutations.lambdas:
        return mutations.lambdas[id(target.function)]
    found: set[str] = set()
    mutations.lambdas[id(target.function)] = frozenset()  # while it is being found out: recursion
    names = set(target.parameters())
    for call in tree.nodes(target.function.body, cst.Call):
        forward = applied(facts, call)
        inner = may_run(facts, mutations, call, target.scope) if forward is None else [Target(forward, target.scope, given_by_torch(forward))]
        for one in inner:
            written = writes_of(facts, mutations, one)
            found |= {n for name, argument in one.bound(call) if name in written for n in names & tree.names_read(_root(argument.value))}
    mutations.lambdas[id(target.function)] = found
    return found


def _root(node: Any) -> Any:
    """What a chain of views and the like begins with: x of `x.view(-1)[0]`."""
    while True:
        if isinstance(node, (cst.Attribute, cst.Subscript)):
            node = node.value
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.value
        else:
            return node


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
