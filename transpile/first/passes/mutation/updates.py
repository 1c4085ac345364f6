"""Calls of torch that update what they are given beside their result: the running statistics of `F.batch_norm`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst

from ... import tree
from ...emit import display
from ...rulebook import Definition
from ...values import NONE, Static, Tensor, Torch
from .aliases import follow
from .frame import Frame


@dataclass(frozen=True)
class Update:
    """What one call updates."""

    name: str  # the torch name of the form that returns it
    words: list[str]  # the parameters that it is passed as
    written: list[Any]
    test: Any  # of `self.mean if track else None`: only then there is something to keep


def updated_by(frame: Frame, node: cst.Call) -> Update | None:
    """What `F.batch_norm(x, self.mean, self.var, …)` updates, where the caller can store it."""
    value = frame.value(node.func)
    rules = frame.context.rulebook.find(value.name + "[updating]") if isinstance(value, Torch) and frame.runs else ()
    if not rules or not isinstance(value, Torch):
        return None
    given = _given(rules[0], node)
    words = frame.context.rulebook.table("UPDATES")[value.name]
    passed = [given.get(word) for word in words]
    test = _common_test(passed)
    written = passed if test is None else [choice.body for choice in passed if choice is not None]
    if frame.chosen or tree.code(given.get("training", cst.Name("False"))) == "False" or not all(_is_kept(frame, w) for w in written):
        return None
    return Update(value.name + "[updating]", words, written, test)


def report_lost(frame: Frame, node: cst.Call) -> None:
    """Say of a call that updates what cannot be stored here that it raises where it would: `F.batch_norm(x, self.means[i], …)`."""
    value = frame.value(node.func)
    flag = frame.context.rulebook.table("UPDATES_IF").get(value.name) if isinstance(value, Torch) and frame.runs else None
    if flag is None or not isinstance(value, Torch):
        return
    rule = frame.context.rulebook.find(value.name)[0]
    given, usual = _given(rule, node), {p.name: p.default for p in rule.parameters}
    written = [given[word] for word in ("running_mean", "running_var") if word in given and frame.value(given[word]) != NONE]
    does = frame.value(given[flag]) if flag in given else Static(getattr(usual[flag], "value", None))
    if written and not (isinstance(does, Static) and does.const is False):
        name, stored = value.name.rpartition(".")[2], value.name in frame.context.rulebook.table("UPDATES")
        other = "a layer, or give it buffers of this module as they are" if stored else "a layer"
        frame.context.report("unsupported", node, f"{name} changes the running mean and variance where {flag} is true: it raises here, use {other}")


def _given(rule: Definition, node: cst.Call) -> dict[str, Any]:
    """The arguments of a call by the parameters of a rule."""
    names = [p.name for p in rule.parameters]
    return {a.keyword.value if a.keyword is not None else names[i]: a.value for i, a in enumerate(node.args) if i < len(names) and not a.star}


def store_updates(frame: Frame, update: Update, call: Any, name: str | None) -> cst.Name:
    """Put before the current statement the call, and what keeps what it has updated; the name of its result."""
    for one in update.written:
        if isinstance(one, cst.Attribute):
            follow(frame, one, call)
    func = tree.replace(call.func)
    frame.facts.tell(func, Torch(update.name))
    call = tree.replace(call, func=func)
    result = cst.Name(frame.fresh("output") if name is None else name)
    if update.test is None:
        frame.prelude.append(tree.assignment(display([cst.Name(result.value), *update.written]), call))
    else:
        new = [cst.Name(frame.fresh(word)) for word in update.words]
        frame.prelude.append(tree.assignment(display([cst.Name(result.value), *new]), call))
        keep = tree.assignment(display(update.written), display(new))
        frame.prelude.append(cst.If(update.test, cst.IndentedBlock([keep])))
    frame.facts.tell(result, Tensor())
    return result


def _common_test(values: list[Any]) -> Any:
    """The test of `a if test else None`, where all of several values have this form with the same one."""
    if not all(isinstance(v, cst.IfExp) and tree.code(v.orelse) == "None" for v in values):
        return None
    tests = {tree.code(v.test) for v in values}
    return values[0].test if len(tests) == 1 else None


def _is_kept(frame: Frame, node: Any) -> bool:
    return frame.is_tensor(node) and (isinstance(node, cst.Attribute) or _is_made_here(frame, node))


def _is_made_here(frame: Frame, node: Any) -> bool:
    """Whether a local name stands for memory that only such calls see: `mean = torch.zeros(3)`, of no other tensor."""
    body, updates = frame.node.body, frame.context.rulebook.table("UPDATES")
    if not isinstance(node, cst.Name) or node.value not in tree.bound_once(body):
        return False
    made = [n.value for n in tree.nodes(body, cst.Assign) if [tree.code(t.target) for t in n.targets] == [node.value]]
    value = made[0] if len(made) == 1 else None
    if not isinstance(value, cst.Call) or not isinstance(frame.value(value.func), Torch):
        return False
    calls = [n for n in tree.nodes(body, cst.Call) if isinstance(f := frame.value(n.func), Torch) and f.name in updates]
    uses = sum(isinstance(a.value, cst.Name) and a.value.value == node.value for n in calls for a in n.args)
    words = {id(n.attr) for n in tree.nodes(body, cst.Attribute)}  # `torch.zeros` is no name
    seen = sum(n.value == node.value and id(n) not in words for n in tree.nodes(body, cst.Name)) - 1
    return uses == seen and not any(isinstance(frame.value(a.value), Tensor) for a in value.args)
