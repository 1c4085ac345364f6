"""Calls of torch that update what they are given beside their result: the running statistics of
`F.batch_norm`."""

from dataclasses import dataclass
from typing import Any

from ...facts.memory.access_paths import of, spelled
from ...facts.values.lattice import NONE, Static, Torch
from ...model.constants import is_constant
from ...model.copy import clone
from ...model.expressions import Attribute, Call, Constant, Display, Name, Starred
from ...model.node import Expression, Statement
from ...model.operators import Boolean, Compare, Conditional
from ...model.statements import Assign, Block, If
from . import nodes
from .frame import Frame
from .rebinding import lvalue, rebind


@dataclass(frozen=True)
class Update:
    """What one call updates."""

    name: str  # the torch name of the form that returns it
    words: list[str]  # the parameters that it is passed as
    written: list[Expression]
    test: Expression | None  # of `self.mean if track else None`


def updated_by(frame: Frame, node: Call) -> Update | None:
    """What `F.batch_norm(x, self.mean, self.var, …)` updates, where the caller can store it."""
    value, spellings = of(node.function), frame.spellings
    if not isinstance(value, Torch) or value.name not in spellings.updates or frame.chosen:
        return None
    rules = spellings.rulebook.find(f"{value.name}[updating]")
    if not rules:
        return None
    given, words = _given(rules[0], node), list(spellings.updates[value.name])
    passed = [given.get(word) for word in words]
    test = _common_test(passed)
    written = [p.body if isinstance(p, Conditional) and test is not None else p for p in passed]
    training = given.get("training")
    if training is None or is_constant(training, False):
        return None
    arrays = [w for w in written if w is not None and _is_stored(frame, w)]
    if len(arrays) != len(written):
        return None
    return Update(f"{value.name}[updating]", words, [clone(a) for a in arrays], test)


def _is_stored(frame: Frame, written: Expression) -> bool:
    """Whether it is an array of a module, or a row of one: `self.means[step]`; or a name of the
    function's own for an array."""
    held = lvalue(frame, written)
    if isinstance(held, Name):
        return held is written and _is_local(frame, held.id) and frame.is_tensor(held)
    return isinstance(held, Attribute) and frame.state.paths.is_array(held)


def drop_unread(frame: Frame, node: Call) -> None:
    """`F.batch_norm(x, mean, var, training=True)` without the statistics, where these are names
    that nobody reads again: it takes the batch's own."""
    value, spellings = of(node.function), frame.spellings
    rules = spellings.rulebook.find(value.name) if isinstance(value, Torch) else []
    if not rules or not isinstance(value, Torch) or value.name not in spellings.updates:
        return
    given = _given(rules[0], node)
    training = given.get(spellings.updates_if[value.name])
    passed = [given.get(word) for word in spellings.updates[value.name]]
    unread = [p for p in passed if isinstance(p, Name) and _is_unread(frame, p)]
    if training is None or not is_constant(training, True) or len(unread) < len(passed):
        return
    for one in unread:
        nothing = Constant(None)
        one.replace(nothing)
        nothing.value = NONE


def _is_unread(frame: Frame, written: Name) -> bool:
    return _is_local(frame, written.id) and not frame.is_read_later(written.id)


def _is_local(frame: Frame, name: str) -> bool:
    """Whether it has an array of the function's own: what a caller gave, it may read again."""
    return name in frame.own and not frame.state.parameters(name)


def report_lost(frame: Frame, node: Call) -> None:
    """Say of a call that updates what cannot be stored here that it raises where it would:
    `F.batch_norm(x, self.means[i], …)`."""
    value, spellings = of(node.function), frame.spellings
    flag = spellings.updates_if.get(value.name) if isinstance(value, Torch) else None
    if flag is None or not isinstance(value, Torch) or not frame.traced:
        return
    rules = spellings.rulebook.find(value.name)
    if not rules:
        return
    given, usual = _given(rules[0], node), {p.name: p.default for p in rules[0].parameters}
    words = [w for w in ("running_mean", "running_var") if w in given]
    written = [w for w in words if of(given[w]) != NONE]
    does = of(given[flag]) if flag in given else Static(getattr(usual.get(flag), "value", None))
    if written and not (isinstance(does, Static) and does.const is False):
        name = value.name.rpartition(".")[2]
        message = (
            f"{name} changes the running mean and variance where {flag} is true: it raises here, "
            "use a layer, or give it buffers of this module as they are"
        )
        frame.changes.report("unsupported", node, message)


def store_updates(frame: Frame, update: Update, node: Call) -> None:
    """Take apart what the call gives, and keep what it has updated: behind the statement that names
    its result, elsewhere before the current one, where a name stands for the call."""
    new = [nodes.name(frame.fresh(word)) for word in update.words]
    kept: list[Statement] = []
    for one, value in zip(update.written, new):
        kept += rebind(frame, one, clone(value), node)
    test: Expression | None = None if update.test is None else clone(update.test)
    if any(getattr(of(one), "none", False) for one in update.written):  # not tracked
        there = Compare([clone(new[0]), Constant(None)], ["is not"])
        test = there if test is None else Boolean(test, "and", there)
    if test is not None:
        kept = [If(test, Block(kept))]
    assign = node.parent
    function = clone(node.function)
    node.function.replace(function)
    function.value = Torch(update.name)
    if isinstance(assign, Assign) and _names_one(assign):
        target = assign.targets[0]
        target.replace(Display("tuple", [clone(target), *new]))
        frame.after[:0] = kept
        return
    result = nodes.name(frame.fresh("output"))
    node.replace(clone(result))
    frame.before.append(Assign([Display("tuple", [result, *new])], node))
    frame.before_with_followers(kept)


def _names_one(assign: Assign) -> bool:
    """`y = F.batch_norm(…)`"""
    return not assign.operator and [type(target) for target in assign.targets] == [Name]


def _given(rule: Any, node: Call) -> dict[str, Expression]:
    """The arguments of a call by the parameters of a rule."""
    names, found = [p.name for p in rule.parameters], dict[str, Expression]()
    for i, (word, argument) in enumerate(zip(node.keywords, node.arguments)):
        if not isinstance(argument, Starred) and (word is not None or i < len(names)):
            found[word or names[i]] = argument
    return found


def _common_test(values: list[Expression | None]) -> Expression | None:
    """The test of `a if test else None`, where all of several values have this form with the same
    one."""
    tests = []
    for value in values:
        if not isinstance(value, Conditional) or not is_constant(value.orelse, None):
            return None
        tests.append(value.test)
    texts = {spelled(test) for test in tests}
    return tests[0] if len(texts) == 1 and None not in texts else None
