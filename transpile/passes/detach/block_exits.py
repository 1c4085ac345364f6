"""The statements of a block without gradient: what leaves it is constant from there on."""

from __future__ import annotations

from ...facts.activity import takes_rows
from ...facts.activity.flows import GROWING
from ...facts.values import lattice
from ...facts.values.lattice import UNKNOWN, Tensor, Torch
from ...model.effects import Unconverted
from ...model.expressions import (
    Attribute,
    Call,
    Dictionary,
    Display,
    Lambda,
    Name,
    NamedExpression,
    OpaqueExpression,
    Starred,
    Subscript,
)
from ...model.names import is_inplace, target_names
from ...model.node import Expression, Node, Statement
from ...model.positions import source_of
from ...model.program import Class, Function, Parameter
from ...model.statements import Assign, ExpressionStatement, For, Return, With
from .constants import Within, Wrap
from .written_places import Places

_UNDECIDED = (
    "an in-place write, where a flag turns gradients off, of a tensor that may carry a gradient"
    " from outside"
)


class Leaving:
    """Goes through the statements of one block."""

    def __init__(self, within: Within) -> None:
        self.within, self.changes = within, within.changes
        self.activity, self.places = within.facts.activity, Places(within)
        self.refused: set[Node] = set()  # statements that raise instead

    def visit(self, node: Node) -> None:
        """See to a node and to all below it; functions defined in the block run elsewhere."""
        if isinstance(node, (Function, Class, Lambda)):
            return
        if isinstance(node, With) and self._turns_on(node):
            return
        descend = True
        if isinstance(node, Return) and node.expression is not None:
            self.within.make(self.within.parts(node.expression))
        elif isinstance(node, OpaqueExpression) and node.word.startswith("yield"):
            self._yield(node)
        elif isinstance(node, Assign) and node.expression is not None:
            descend = self._augmented(node) if node.operator else self._assign(node)
        elif isinstance(node, NamedExpression):
            if self.places.leaves(node.target):
                self.within.make(self.within.parts(node.expression))
        elif isinstance(node, For):
            self._loop(node)
        elif isinstance(node, ExpressionStatement) and isinstance(node.expression, Call):
            descend = self._statement(node, node.expression)
        elif isinstance(node, Call):
            self._stored(node, _STORING)
            self._into(node)
            around = node.nearest(Statement)
            assert around is not None
            for argument in filter(self.places.leaves, self._written(node)):
                self._write(around, node, argument)
        for child in node.children() if descend else ():
            self.visit(child)

    def _turns_on(self, node: With) -> bool:
        found = [(item, self.activity.switch(item)) for item, _ in node.pairs]
        for item, switch in found:
            if switch is not None and (not switch.off or switch.flag is not None):
                name = self.activity.torch_name(item) or "torch.enable_grad"
                self._refuse(node, item, f"{name} inside torch.no_grad")
                return True
        return False

    def _refuse(self, statement: Statement, node: Expression, message: str) -> None:
        """Report, and let a statement raise instead."""
        self.changes.report("unsupported", node, message)
        self.refused.add(statement)
        raises = Unconverted("unsupported", source_of(node))
        self.changes.substitute(statement, [ExpressionStatement(raises)])

    # --- what is given ---------------------------------------------------------------------------

    def _yield(self, node: OpaqueExpression) -> None:
        """`yield y`; `yield from f(x)` gives one after another."""
        for inside in node.inside:
            if node.word == "yield":
                self.within.make(self.within.parts(inside))
            elif isinstance(inside, Display):
                self.within.make(self.within.plan(inside))
            elif self.within.off.computes(inside):
                self.changes.wrap(inside, self._each)

    def _each(self, over: Expression) -> Expression:
        """`map(lambda each: Detached(each), over)`, of what may be a generator."""
        called = Name("map")
        called.value = lattice.External("builtins.map")
        each = Name("each")
        each.value = getattr(over.value, "element", None)
        return Call(called, [Lambda([Parameter("each")], self.within.constant(each)), over])

    def _loop(self, node: For) -> None:
        """A loop whose last turn is seen after the block: `for t in g(x): t = Detached(t)`."""
        if not self.places.leaves(node.target) or not self.within.off.computes(node.iterable):
            return
        made: list[Statement] = []
        for target in _names(node.target):
            if target.id in self.within.live:
                read = Name(target.id)
                read.value = target.value
                made.append(Assign([Name(target.id)], self.within.constant(read)))
        self.changes.change(node.body, lambda body: body.insert_before(body.body[0], made))

    # --- assignments -----------------------------------------------------------------------------

    def _assign(self, node: Assign) -> bool:
        assert node.expression is not None
        targets = node.targets
        if any(isinstance(t, Subscript) and self.places.is_tensor(t.object) for t in targets):
            if not any(map(self.places.is_seen, targets)):
                return True
            if any(map(self.places.is_undecided, targets)):
                self._refuse(node, node.expression, _UNDECIDED)
                return False
            self._part(node.expression)
            for target in targets:
                self.places.of_data(target)
        elif any(map(self.places.leaves, targets)):
            if takes_rows(node):
                if self.within.carries(node.expression):
                    self.within.make([Wrap(node.expression)])
            else:
                self.within.make(self.within.parts(node.expression))
        return True

    def _augmented(self, node: Assign) -> bool:
        assert node.expression is not None
        target = node.targets[0]
        if not self.places.is_seen(target):
            return True
        if node.operator in ("+", "-") or not self.places.has_history(self.places.root(target)):
            self._part(node.expression)
        elif self.places.is_tensor(target):
            if self.places.is_undecided(target):
                self._refuse(node, node.expression, _UNDECIDED)
                return False
            self.places.of_data(target)
        return True

    def _part(self, node: Expression) -> None:
        """What is written into a tensor: even a plain name becomes part of something else."""
        if isinstance(node, (Name, Attribute)) and self.places.is_tensor(node):
            if self.within.carries(node):
                self.within.make([Wrap(node)])
            return
        self.within.make(self.within.parts(node))

    # --- calls -----------------------------------------------------------------------------------

    def _statement(self, statement: ExpressionStatement, call: Call) -> bool:
        """A call for what it does: it writes, or is of a function that may. Returns whether the
        parts of its arguments are yet to be looked at.
        """
        function, func, given = call.function.value, call.function, call.arguments
        method = isinstance(function, lattice.Method) and isinstance(func, Attribute)
        if method and isinstance(function.receiver, Tensor):
            subject = func.object  # type: ignore[attr-defined]
            name = func.name  # type: ignore[attr-defined]
            if not is_inplace(name) or not self.places.is_seen(self.places.root(subject)):
                return True
            if not _is_additive(call) and not self._write(statement, call, subject):
                return False
        elif isinstance(function, Torch) and is_inplace(function.name) and given:
            if not self.places.is_seen(self.places.root(given[0])):
                return True
            if not self._write(statement, call, given[0]):
                return False
            given = given[1:]
        elif not isinstance(function, (lattice.Function, lattice.Module)):
            self._stored(call, None)
            self._into(call)
            return True
        else:
            written = self._written(call)
            given = [argument for argument in given if argument not in written]
            if not all(self._write(statement, call, a) for a in written if self.places.leaves(a)):
                return False
        for argument in given:
            self._argument(argument)
        return True

    def _written(self, call: Call) -> list[Expression]:
        return self.within.facts.memory.arguments_written(call, self.within.function)

    def _write(self, statement: Statement, call: Call, subject: Expression) -> bool:
        """What a call writes is written through `.data`; False where a flag decides, which is
        refused.
        """
        if self.places.is_undecided(subject):
            self._refuse(statement, call, _UNDECIDED)
            return False
        self.places.of_data(subject)
        return True

    def _stored(self, call: Call, names: frozenset[str] | None) -> None:
        """`outs.append(y)`, `d.update(a=y)`, `queue.put(y)`: what is put into something from
        outside; `names` of the methods, None for any.
        """
        func = call.function
        if not isinstance(func, Attribute) or names is not None and func.name not in names:
            return
        holder = func.object.value
        known = isinstance(holder, (lattice.Sequence, lattice.Mapping))
        if not known and not ((holder is None or holder == UNKNOWN) and _is_method(call)):
            if not isinstance(holder, lattice.Object):
                return
        if not self.places.holds(self.places.root(func.object)):
            return
        for argument in call.arguments:
            inner = argument.expression if isinstance(argument, Starred) else argument
            if names or inner.value not in (None, UNKNOWN):
                self.within.make(self.within.plan(inner))

    def _into(self, call: Call) -> None:
        """`torch.add(x, y, out=z)`: what z gets is made of constants."""
        out = call.keyword("out")
        if out is not None and self.places.is_tensor(out) and self.places.is_seen(out):
            for argument in call.arguments:
                if argument is not out:
                    self._argument(argument)

    def _argument(self, argument: Expression) -> None:
        if isinstance(argument, (Display, Dictionary)):
            self.within.make(self.within.plan(argument))
        elif not isinstance(argument, Starred) and self.places.is_tensor(argument):
            if self.within.carries(argument):
                self.within.make([Wrap(argument)])


_STORING = GROWING | {"insert"}
_ADDITIVE = frozenset(("add_", "sub_", "requires_grad_"))


def _is_additive(call: Expression) -> bool:
    """Whether a chain of methods in place adds alone, which leaves a gradient what it is: not
    `w.mul_(m).add_(v)`."""
    while isinstance(call, Call) and isinstance(call.function, Attribute):
        name = call.function.name
        if is_inplace(name) and name not in _ADDITIVE:
            return False
        call = call.function.object
    return True


def _is_method(call: Call) -> bool:
    """Whether a call is of an object's method, not of a function of a library, nor in place."""
    func = call.function
    named = isinstance(func, Attribute) and not is_inplace(func.name)
    return named and not isinstance(func.value, (lattice.External, Torch))


def _names(target: Expression) -> list[Name]:
    """The names of a target that is bound."""
    wanted = set(target_names(target))
    return [n for n in target.walk() if isinstance(n, Name) and n.id in wanted]
