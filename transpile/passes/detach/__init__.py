"""What is computed under `torch.no_grad()` is constant.

    with torch.no_grad():                       y = Detached(f(x))
        y = f(x)                    ->          z = gt
        z = gt                                  self.mean.mul_(0.9).add_(Detached(y.mean(0)))
        self.mean.mul_(0.9).add_(y.mean(0))     h.data.mul_(2)
        h.mul_(2)

Only what leaves the block is marked: a value that is read after it, returned, yielded, kept on an
object, or put into a list or dict from outside. Plain names are not, for `y = x` under no_grad is x
itself, with its gradient. A write in place changes the value of a tensor, but not its history:
where the tensor has one from outside it is a write of its `.data`, and else what is written is
constant.

`constants` decides what of a value is constant, `block_exits` goes through the statements.
"""

import functools
from collections.abc import Iterator

from ...facts.bindings import bound, read
from ...facts.program import ProgramFacts
from ...facts.values.lattice import Function as FunctionValue
from ...facts.values.lattice import Method, Tensor
from ...model.copy import clone
from ...model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Name,
    NamedExpression,
    Starred,
    Subscript,
)
from ...model.names import is_augmented, names_assigned, target_names
from ...model.node import Expression, Node
from ...model.operators import Binary
from ...model.program import Function, Scope
from ...model.statements import Assign, For, With
from ..pass_ import Changes, Pass
from .block_exits import Leaving
from .constants import Within

__all__ = ["PASS", "run"]

# `for y in g(x): loss = loss + y * x` has no gradient in torch: the block of a suspended generator
# holds for whoever called it.
_LEAKS = (
    "what takes from this generator computes without gradient in torch until the block is left:"
    " here it has one, as is right where none is asked for"
)
_VARIABLE = ("torch.autograd.Variable", "torch.autograd.variable.Variable")


def run(scope: Scope, facts: ProgramFacts) -> Changes:
    """The blocks without gradient of a scope, the decorators that make all of it one, and
    `Variable(x)`, which is detached.
    """
    detach = _Detach(scope, facts)
    computes = facts.stage(scope) not in ("building", "import") and isinstance(scope, Function)
    if isinstance(scope, Function):
        detach.decorators(scope, computes)
    detach.blocks(computes)
    if computes:
        detach.variables()
    return detach.changes


class _Detach:
    def __init__(self, scope: Scope, facts: ProgramFacts) -> None:
        self.scope, self.facts, self.activity = scope, facts, facts.activity
        self.changes = Changes(scope)
        self.whole = False  # the scope is a function that computes without gradient
        self.refused: set[Node] = set()
        self.seen: set[Node] = set()  # blocks inside of others

    def decorators(self, function: Function, computes: bool) -> None:
        """`@torch.no_grad()`: all that leaves the function is constant."""
        switch = self.activity.of_function(function)
        if switch is None:
            return
        if switch.off and computes:
            self.whole = True
            self._leave(Within(self.changes, self.facts, function, function, switch.flag))
        for decorator in list(function.decorators):
            if self.activity.switch(decorator) is not None:
                self.changes.change(decorator, function.undecorate)

    def blocks(self, computes: bool) -> None:
        """The blocks go; what leaves those that turn gradients off is constant."""
        for block in self.scope.nodes(With):
            switches = [
                (c, s) for c, t in block.pairs if (s := self.activity.switch(c)) is not None
            ]
            if not switches or block in self.refused:
                continue
            off = next((s for _, s in switches if s.off), None)
            inside = self.whole or any(around in self.seen for around in block.ancestors())
            if off is not None:
                self.seen.add(block)
            if off is not None and computes and not inside:
                self._block(block, off.flag)
            if len(switches) == len(block.pairs):
                self.changes.change(block, With.unwrap)
            else:
                for context, _ in switches:
                    self.changes.change(block, functools.partial(With.remove, context=context))

    def _block(self, block: With, flag: Expression | None) -> None:
        assert isinstance(self.scope, Function)
        held = any(around is block for n in self.scope.yields for around in n.ancestors())
        if held and self._is_computed_with(self.scope):
            self.changes.report("taken-for-granted", block, _LEAKS)
        if flag is not None:
            flag = self._kept(block, flag)
        self._leave(Within(self.changes, self.facts, block, self.scope, flag))

    def _leave(self, within: Within) -> None:
        leaving = Leaving(within)
        leaving.visit(within.off.body)
        self.refused |= leaving.refused

    def _kept(self, block: With, flag: Expression) -> Expression:
        """The condition of a block, under a name where it may be another one inside."""
        plain = not any(isinstance(n, (Call, NamedExpression)) for n in flag.walk())
        stable = not set(read(flag)) & set(bound(block.body))
        if plain and stable and not any(isinstance(n, Attribute) for n in flag.walk()):
            return flag
        if plain and stable and not _sets_attributes(block):
            return flag
        name, taken = "with_gradient", {*names_assigned(self.scope), *read(self.scope.own()[0])}
        while name in taken:
            name += "_"
        made = Name(name)
        made.value = flag.value
        target = Name(name)
        target.value = flag.value
        self.changes.insert_before(block, [Assign([target], clone(flag))])
        return made

    def _is_computed_with(self, function: Function) -> bool:
        """Whether the function is a context manager, or a loop over what it yields computes in its
        turns.
        """
        if any(d.endswith("contextmanager") for d in self.facts.project.decorators(function)):
            return True
        for over, turn in self._loops():
            value = over.function.value if isinstance(over, Call) else None
            if isinstance(value, FunctionValue) and value.function is function:
                working = (Call, Binary)
                if any(isinstance(n, working) or is_augmented(n) for n in turn.walk()):
                    return True
        return False

    def _loops(self) -> Iterator[tuple[Expression, Node]]:
        for file in self.facts.project.ordered:
            for node in file.walk():
                if isinstance(node, For):
                    yield node.iterable, node.body
                elif isinstance(node, Comprehension):
                    yield from ((clause.iterable, node.element) for clause in node.clauses)

    # --- Variable --------------------------------------------------------------------------------

    def variables(self) -> None:
        """`x.detach()` for `Variable(x)`: the same memory without its history."""
        iterated: set[str] | None = None
        for call in self.scope.nodes(Call):
            if self.activity.torch_name(call) not in _VARIABLE or not call.arguments:
                continue
            given = call.arguments[0]
            if isinstance(given, Starred) or self.activity.carries(given) is False:
                continue
            if self.facts.stage(self.scope) != "traced":  # loops go over the data of a loader
                if iterated is None:
                    loops = self.scope.nodes(For)
                    iterated = {n for loop in loops for n in target_names(loop.target)}
                if _root(given) in iterated:
                    continue
            self.changes.replace(call, _detached)


def _detached(call: Call) -> Expression:
    func = Attribute(call.arguments[0], "detach")
    func.value = Method(Tensor(), "detach")
    return Call(func)


def _sets_attributes(block: With) -> bool:
    targets = (t for n in block.walk() if isinstance(n, Assign) for t in n.targets)
    called = any(isinstance(n, Call) for n in block.body.walk())
    return called or any(isinstance(t, Attribute) for t in targets)


def _root(node: Expression) -> str | None:
    """data of `data["image"].float().cuda()`"""
    while not isinstance(node, Name):
        if isinstance(node, Call) and isinstance(node.function, Attribute):
            node = node.function
        if not isinstance(node, (Attribute, Subscript)):
            return None
        node = node.object
    return node.id


PASS = Pass("detach", ("activity", "bindings", "memory", "stages"), run)
