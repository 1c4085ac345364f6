"""Nodes of JAX with self as the functional output has them, where they stand.

Read of an array    params["weight"], state["mean"], self.mask for a constant
    that may be missing: "bias" in params, params.get("bias")
Mode                training
Detached            lax.stop_gradient(x)
Put                 x.at[i].set(v)
"""

from __future__ import annotations

from ...model.effects import (
    PARAM,
    Apply,
    BoundMethod,
    Detached,
    Mode,
    New,
    Put,
    Read,
    Shape,
    Support,
    Unconverted,
    Unset,
)
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Lambda,
    Name,
    Subscript,
    is_none,
)
from ...model.names import dotted
from ...model.node import Expression, Node
from ...model.operators import Compare, Conditional
from ...model.program import Function
from ...model.statements import If
from ...passes.pass_ import source_of
from ..faults import raising
from .paths import Paths
from .plan import Plan, Words
from .report import Reports


class Leaves:
    """The leaves of one function, those of functions inside included."""

    def __init__(
        self, function: Function, plan: Plan, paths: Paths, words: Words, reports: Reports
    ) -> None:
        self.function, self.plan, self.paths = function, plan, paths
        self.words, self.reports = words, reports
        self.ties = plan.tied(function.owner)

    def write(self) -> None:
        for node in reversed(list(self.function.body.walk())):  # inner before outer
            self._node(node)

    def _node(self, node: Node) -> None:
        if isinstance(node, Read):
            self._read(node)
        elif isinstance(node, Mode):
            node.replace(Name(self.words.training))
        elif isinstance(node, Detached):
            node.replace(Call(Attribute(Name("lax"), "stop_gradient"), [node.expression]))
        elif isinstance(node, Put):
            at = Subscript(Attribute(node.base, "at"), node.index)
            node.replace(Call(Attribute(at, node.how), [node.new]))
        elif isinstance(node, Shape):
            shape = Attribute(Name("jax"), "eval_shape")
            node.replace(Call(shape, [Lambda([], node.expression)]))
        elif isinstance(node, Unconverted):
            node.replace(raising(node, Support))
        elif isinstance(node, Unset):
            node.replace(Constant(None))
        elif isinstance(node, BoundMethod):
            node.become(Attribute(node.object, node.name))
        elif isinstance(node, (New, Apply)):
            node.become(Call(node.function, node.arguments, node.keywords))

    # --- arrays -----------------------------------------------------------------------------------

    def _read(self, node: Read) -> None:
        whole = self._whole(node)
        if whole is None:
            node.become(Attribute(node.object, node.name))
            return
        tied = self.ties.get(dotted(node.object) or "")
        if tied is not None and tied[0] == node.name:
            _, *keys = tied[1].split(".")
            made: Expression = Name(self.words.params)
            for key in keys:
                made = Subscript(made, Constant(key))
            node.replace(made)
            return
        path = self.paths.of(node.object)
        if path is None:
            why = "it is not known where the params of this module are"
            self.reports.report("module-value", node, why)
            node.replace(raising(Unconverted("module-value", source_of(node)), Support))
            return
        entries = path.of(whole)
        around = node.parent
        if isinstance(around, Compare) and any(map(is_none, around.operands)):
            words = {"is": "not in", "is not": "in", "==": "not in", "!=": "in"}
            around.replace(Compare([Constant(node.name), entries], [words[around.operators[0]]]))
        elif self._may_be_missing(node):
            node.replace(Call(Attribute(entries, "get"), [Constant(node.name)]))
        else:
            node.replace(Subscript(entries, Constant(node.name)))

    def _whole(self, node: Read) -> str | None:
        """Where an array is kept; None for a constant, which the module has itself."""
        if self.plan.conventions.is_state(node):
            return self.words.state
        return self.words.params if node.kind in (PARAM, "mixed") else None

    def _may_be_missing(self, node: Read) -> bool:
        """Whether an array is not there under some configuration, and nothing around asks."""
        cls = self.function.owner
        array = self.plan.arrays(cls).get(node.name) if cls is not None else None
        own = isinstance(node.object, Name) and node.object.id == self.paths.self_name
        if array is None or not array.optional or not own:
            return False
        return not any(_asks(around, node) for around in node.ancestors())


def _asks(around: Node, node: Read) -> bool:
    """Whether a branch asks whether an array is there."""
    if not isinstance(around, (If, Conditional)):
        return False
    for test in around.test.walk():
        if isinstance(test, Compare) and len(test.operands) == 2:
            one, other = test.operands
            if isinstance(one, Read) and one.name == node.name and is_none(other):
                return True
            if isinstance(one, Constant) and one.constant == node.name:
                return True
    return False
