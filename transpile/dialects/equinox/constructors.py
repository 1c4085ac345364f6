"""What a constructor declares and writes, in torch's order.

register_buffer("hits", v)      self.hits = eqx.nn.StateIndex(v), or nn.Constant(v) where
                                nothing writes it
zeros_(self.head.bias)          self.head = eqx.tree_at(lambda m: m.bias, self.head, v)
"""

from __future__ import annotations

from ...model.copy import clone
from ...model.effects import (
    BUFFER,
    CONSTANT,
    PARAM,
    Declare,
    NewArray,
    Read,
    Support,
    Tie,
    Walk,
    Write,
)
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Lambda,
    Name,
    Subscript,
)
from ...model.names import dotted
from ...model.node import Expression, Statement
from ...model.operators import Compare, Conditional
from ...model.program import Class, Function, Parameter
from ...model.statements import Assign, Block, ExpressionStatement, Pass
from .plan import Plan
from .report import Reports


class Building:
    """Writes what a function does while a model is built."""

    def __init__(self, function: Function, cls: Class, plan: Plan, reports: Reports) -> None:
        self.function, self.cls, self.plan, self.reports = function, cls, plan, reports
        self.self_name = function.parameters[0].name if function.parameters else "self"

    def write(self) -> None:
        for walk in self.function.nodes(Walk):
            self.reports.refuse("module-walk", walk, "a walk over modules is not written yet")
        for declare in self.function.nodes(Declare):
            self._declare(declare)
        for made in self.function.nodes(NewArray):
            self._array(made)
        for write in self.function.nodes(Write):
            self._write(write)
        for assign in self.function.nodes(Assign):
            self._assign(assign)
        for tie in self.function.nodes(Tie):
            self._tie(tie)
        if self.function.name == "__init__" and self.cls in self.plan.inferring:
            self._mode()

    # --- declarations -----------------------------------------------------------------------------

    def _declare(self, declare: Declare) -> None:
        target, value = declare.targets[0], declare.expression
        assert value is not None
        if declare.kind in (BUFFER, CONSTANT):
            self._held(value, declare.kind, declare.name)
        plain = Assign([target], declare.expression)
        plain.targets = declare.targets
        declare.become(plain)
        for part in plain.children():
            part.parent = plain

    def _held(self, value: Expression, kind: str, name: str) -> None:
        """A value of a buffer or constant in what holds it; what is None stays None."""
        if isinstance(value, Conditional):
            self._held(value.body, kind, name)
            self._held(value.orelse, kind, name)
        elif not (isinstance(value, Constant) and value.constant is None):
            value.wrap(lambda v: Call(self._holder(kind, name), [v]))

    def _holder(self, kind: str, name: str) -> Expression:
        if kind == BUFFER and name in self.plan.signatures.written:
            return eqx("nn", "StateIndex")
        return Support("Constant")

    def _mode(self) -> None:
        target = Attribute(Name(self.self_name), "inference")
        self.function.body.append([Assign([target], Constant(False))])
        only = self.function.body.body
        if len(only) == 2 and isinstance(only[0], Pass):
            self.function.body.remove(only[0])

    def _array(self, made: NewArray) -> None:
        """`setattr(self, f"weight_{i}", Parameter(v))`: an entry of a dict of arrays."""
        around = made.parent
        if made.kind != PARAM:
            self.reports.report("buffer-in-list", made, "a buffer made outside of a declaration")
        if isinstance(around, Call) and _is_setattr(around, self.self_name):
            statement = around.parent
            name, value = around.arguments[1], made.arguments[0]
            entry = Subscript(Attribute(Name(self.self_name), "arrays"), name)
            if isinstance(statement, ExpressionStatement):
                _block(statement).substitute(statement, [Assign([entry], value)])
        else:
            made.replace(made.arguments[0])

    # --- writes -----------------------------------------------------------------------------------

    def _write(self, write: Write) -> None:
        target, value = write.target, write.value
        if not isinstance(target, Read):
            why = "a param is written under a name that a loop or a parameter binds"
            self.reports.refuse("parameter-write", write, why)
            return
        if target.kind == BUFFER:
            value = Call(self._holder(BUFFER, target.name), [value])
        _block(write).substitute(write, [self._set(target, value)])

    def _assign(self, assign: Assign) -> None:
        """`self.fc.bias = v`: a submodule is not written, but replaced."""
        if assign.expression is None or assign.operator or len(assign.targets) != 1:
            return
        target = assign.targets[0]
        if isinstance(target, Attribute) and self._base(target) is not target:
            if isinstance(self._base(target), (Name, Attribute)):
                made = self._set(target, assign.expression)
                _block(assign).substitute(assign, [made])

    def _base(self, target: Attribute) -> Expression:
        """What is replaced as a whole: `self.fc` of `self.fc.bias`, `fc` of `fc.bias`."""
        node: Expression = target
        while isinstance(node, (Attribute, Subscript)):
            inner = node.object
            if isinstance(inner, Name):
                if inner.id != self.self_name:
                    return inner
                return node
            node = inner
        return node

    def _set(self, target: Attribute, value: Expression) -> Statement:
        base = self._base(target)
        if base is target:
            return Assign([Attribute(target.object, target.name)], value)
        where = Lambda([Parameter("m")], _from(target, base, Name("m")))
        call = Call(eqx("tree_at"), [where, clone(base), value])
        if self._may_be_none(target):
            is_none = Lambda([Parameter("x")], _is_none(Name("x")))
            call.append(is_none, "is_leaf")
        return Assign([_plain(base)], call)

    def _may_be_none(self, target: Attribute) -> bool:
        return not isinstance(target, Read) and target.name == "bias"

    def _tie(self, tie: Tie) -> None:
        """One owner: the other side holds nothing, and its calls are given the owner's."""
        holder = dotted(tie.target.object)
        if holder is None or holder not in self.plan.tied(self.cls):
            why = "a tied weight has one owner, which both sides have to reach from here"
            self.reports.refuse("tied-weight", tie, why)
            return
        _block(tie).substitute(tie, [self._set(tie.target, Constant(None))])


def _plain(node: Expression) -> Expression:
    return clone(node)


def _from(node: Expression, base: Expression, root: Name) -> Expression:
    """The way from a base to a node, from another root: `m.bias` for `self.fc.bias`."""
    if node is base:
        return root
    if isinstance(node, Attribute):
        return Attribute(_from(node.object, base, root), node.name)
    assert isinstance(node, Subscript)
    return Subscript(_from(node.object, base, root), clone(node.index))


def _is_none(node: Expression) -> Expression:

    return Compare([node, Constant(None)], ["is"])


def _is_setattr(call: Call, self_name: str) -> bool:
    function = call.function
    if not isinstance(function, Name) or function.id != "setattr" or len(call.arguments) != 3:
        return False
    return isinstance(call.arguments[0], Name) and call.arguments[0].id == self_name


def _block(statement: Statement) -> Block:
    block = statement.parent
    assert isinstance(block, Block)
    return block


def eqx(*words: str) -> Expression:
    """A name of Equinox: `eqx.nn.StateIndex`."""
    made: Expression = Name("eqx")
    for word in words:
        made = Attribute(made, word)
    return made
