"""Branches of which one way is left: `if x.is_cuda:`, `a if hasattr(F, "gelu") else b`, assertions
about devices.
"""

from ...facts.bindings import Definitions
from ...facts.values.lattice import is_param
from ...model.expressions import Attribute, Call, Comprehension, Constant, ForClause, Name
from ...model.fallthrough import completes
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Compare, Conditional, Unary
from ...model.program import Function
from ...model.statements import Assert, Assign, Block, If, Pass, Raise
from ..requires_grad import FLAG
from .conditions import Conditions

_GRADIENTS = (
    "gradients count as enabled, and every tensor as one that requires one: see that the other way"
    " computes the same values"
)

_COUNTED = (
    "some params are not trained in torch, which arrays do not know: compute this of those that the"
    " optimizer updates"
)


class Branches:
    """The branches of one scope."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions, self.changes = conditions, conditions.changes
        self.scope = self.changes.scope
        self.gone: set[Node] = set()  # what stands on ways that are not taken
        self.ends: set[Statement] = set()  # decided branches that always jump
        self.ways: dict[If, bool] = {}

    def run(self) -> None:
        needed = self._needed()
        for node in self.scope.nodes(If):
            if not self.is_gone(node):
                self._if(node, needed)
        for choice in self.scope.nodes(Conditional):
            if not self.is_gone(choice):
                self._choice(choice)
        for several in self.scope.nodes(Comprehension):
            if not self.is_gone(several):
                self._filters(several)
        for check in self.scope.nodes(Assert):
            decided = self.conditions.decided(check.test) is not None
            if not self.is_gone(check) and (_checks_gradients(check.test) or decided):
                self.changes.remove(check)  # where arrays are is JAX's affair
                self.gone.add(check)
        for flag in self.scope.nodes(Boolean):
            if not self.is_gone(flag):
                self._flag(flag)

    def is_gone(self, node: Node) -> bool:
        return node in self.gone or any(around in self.gone for around in node.ancestors())

    # --- if --------------------------------------------------------------------------------------

    def _if(self, node: If, needed: set[If]) -> None:
        if _needs_gradient(node.test) and all(map(_only_torchs, node.body.body)):
            way: bool | None = False
        else:
            way = self.conditions.decided(node.test)
            if node in needed:
                way = True
            if way is not None and self.conditions.asks_for_gradients(node.test):
                self.changes.report("taken-for-granted", node.test, _GRADIENTS)
        if way is None:
            self._shorten(node.test)
            return
        if _asks_flag(node.test, True) and _adds_up(node) and self.conditions.freezes():
            self.changes.unconverted("frozen-param", node.test, _COUNTED)
            return
        kept, other = (node.body, node.orelse) if way else (node.orelse, node.body)
        self.gone.update([node.test, *([other] if other is not None else [])])
        self.changes.change(node, lambda n: n.decide(way))
        if not completes(kept):
            self._drop_after(node)

    def _drop_after(self, node: If) -> None:
        """The one way that is left returns: what stands after it is never reached."""
        block = node.parent
        assert isinstance(block, Block)
        if block.form == "elif":
            return
        at = block.body.index(node)
        for statement in block.body[at + 1 :]:
            self.gone.add(statement)
            self.changes.remove(statement)

    def _needed(self) -> set[If]:
        """Branches for GPUs that set what is read after them, and nothing else sets: the function
        runs on a GPU only, and here as if arrays were there.
        """
        asking = [n for n in self.scope.nodes(If) if n.orelse is None and self._asks_cuda(n)]
        if not asking or not isinstance(self.scope, Function):
            return set()
        definitions, found = Definitions(self.scope), set[If]()
        for reader, known in definitions.of.items():
            inside = [self._around(d, asking) for d in known if d is not None]
            if None in known and inside and None not in inside:
                if not any(around is self._around(reader, asking) for around in inside):
                    found.update(n for n in inside if n is not None)
        return found

    def _asks_cuda(self, node: If) -> bool:
        named = any(isinstance(n, Attribute) and "cuda" in n.name for n in node.test.walk())
        return named and self.conditions.decided(node.test) is False

    def _around(self, node: Node, asking: list[If]) -> If | None:
        return next((n for n in node.ancestors() if isinstance(n, If) and n in asking), None)

    def _shorten(self, test: Expression) -> None:
        """Leave what counts of a test."""
        left = self.conditions.left(test)
        if isinstance(left, Expression) and left is not test:
            self.changes.replace(test, left)
            self.gone.add(test)

    # --- expressions -----------------------------------------------------------------------------

    def _choice(self, node: Conditional) -> None:
        way = self.conditions.decided(node.test)
        if way is None:
            self._shorten(node.test)
            return
        if self.conditions.asks_for_gradients(node.test):
            self.changes.report("taken-for-granted", node.test, _GRADIENTS)
        self.gone.update([node.test, node.orelse if way else node.body])
        self.changes.replace(node, lambda n: n.body if way else n.orelse)

    def _filters(self, node: Comprehension) -> None:
        """`sum(p.numel() for p in params if p.requires_grad)`: without what holds of every one."""
        tests = [test for clause in node.clauses for test in clause.conditions]
        for test in tests:
            self._shorten(test)
        idle = {test for test in tests if self.conditions.decided(test) is True}
        if any(_asks_flag(t, True) for t in idle) and _computes(node) and self.conditions.freezes():
            self.changes.unconverted("frozen-param", node, _COUNTED)
            return
        for test in [t for t in tests if t in idle or t in self.gone]:
            if _asks_flag(test):
                self.changes.report("taken-for-granted", test, _GRADIENTS)
        self.gone |= idle
        if idle:
            self.changes.replace(node, lambda n: _unfiltered(n, idle))

    def _flag(self, node: Boolean) -> None:
        """`not args.no_cuda and torch.cuda.is_available()` as a value: `False`, as what is left of
        it is no other value.
        """
        parent = node.parent
        if (
            isinstance(parent, (If, Boolean))
            or isinstance(parent, Conditional)
            and parent.test is node
        ):
            return
        left = node.left
        is_flag = self.conditions.decided(left) is not None or isinstance(left, Compare)
        is_flag = is_flag or isinstance(left, Unary) and left.operator == "not"
        decided = self.conditions.decided(node) if is_flag else None
        if decided is not None:
            self.changes.replace(node, lambda n: _flag_value(decided))


def _asks_flag(test: Expression, param: bool = False) -> bool:
    """Whether a test asks what requires a gradient; `param`: of what is known as a param."""
    asking = (n for n in (test, *test.walk()) if isinstance(n, Attribute) and n.name == FLAG)
    return any(not param or is_param(n.object.value) for n in asking)


def _computes(node: Comprehension) -> bool:
    """Whether something is made of each param, `p.numel()`, which an optimizer could not leave out:
    no list of these, or of their names."""
    return any(isinstance(n, Call) for n in (node.element, *node.element.walk()))


def _adds_up(node: If) -> bool:
    """`if p.requires_grad: n += p.numel()`"""
    inside = (n for n in node.walk() if isinstance(n, Assign) and n.operator)
    return any(isinstance(n.targets[0], Name) for n in inside)


def _unfiltered(node: Comprehension, idle: set[Expression]) -> Comprehension:
    clauses = [
        ForClause(c.target, c.iterable, [t for t in c.conditions if t not in idle], c.asynchronous)
        for c in node.clauses
    ]
    return Comprehension(node.kind, node.key, node.element, clauses)


def _flag_value(value: bool) -> Constant:
    return Constant(value, str(value))


def _checks_gradients(test: Expression) -> bool:
    """`assert not target.requires_grad`: there is nothing to check where what is differentiated is
    chosen outside.
    """
    if isinstance(test, Unary) and test.operator == "not":
        test = test.operand
    if isinstance(test, Compare):  # `assert indices.requires_grad == False`
        test = test.operands[0]
    return isinstance(test, Attribute) and test.name == "requires_grad"


def _needs_gradient(test: Expression) -> bool:
    """`x.requires_grad and x.grad is not None`"""
    if isinstance(test, Boolean):
        return test.operator == "and" and (
            _needs_gradient(test.left) or _needs_gradient(test.right)
        )
    return isinstance(test, Attribute) and test.name == "requires_grad"


def _only_torchs(statement: Statement) -> bool:
    """Whether a statement only raises, or sees to gradients that torch keeps on tensors:
    `x.retain_grad()`, `x.grad = None`.
    """
    if isinstance(statement, (Raise, Assert, Pass)):
        return True
    if any(isinstance(child, Block) for child in statement.children()):
        return False
    words = ("grad", "retain_grad", "requires_grad", "requires_grad_")
    return any(isinstance(n, Attribute) and n.name in words for n in statement.walk())
