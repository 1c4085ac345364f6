"""What the parts of the pass share: the scope, the facts, what is asked for its truth alone."""

import itertools
from collections.abc import Iterator

from ...facts.program import ProgramFacts
from ...facts.values.lattice import UNKNOWN, Tensor, Value
from ...model.effects import Apply, Key, Support
from ...model.expressions import (
    Attribute,
    Call,
    Constant,
    Display,
    ForClause,
    Name,
    NamedExpression,
    OpaqueExpression,
    Starred,
    Subscript,
)
from ...model.fresh_names import Names
from ...model.names import dotted
from ...model.node import Expression, Node, Statement
from ...model.operators import Binary, Boolean, Compare, Conditional, Unary
from ...model.program import Function, Scope
from ...model.statements import Assign, Block, ExpressionStatement, If, Return, While
from ..pass_ import Changes

_STRICT = (Unary, Binary, Compare, Call, Display, Subscript, Attribute, Starred)
_MUTATORS = frozenset(
    """append extend insert pop popitem remove clear update setdefault add discard sort reverse
    write send put""".split()
)
_HOST = frozenset(["print", "input", "next", "open", "setattr", "delattr", "exec", "eval"])


class Operators:
    """One scope, and what is wanted of it."""

    def __init__(self, scope: Scope, facts: ProgramFacts) -> None:
        self.scope, self.facts = scope, facts
        self.changes = Changes(scope)
        self.asked = frozenset(_asked(scope))
        self.preceded: set[Statement] = set()  # statements that get others before them
        self._names: Names | None = None

    def fresh(self, word: str) -> str:
        if self._names is None:
            self._names = Names(self.scope)
        return self._names.fresh(word)

    def is_pure(self, node: Node, drawing: bool = True) -> bool:
        """Whether computing an expression does nothing else: it may be computed though it is not
        asked for. A key of a draw that nobody looks at does no harm, where `drawing` is right.
        """
        return not any(self._acts(inner, drawing) for inner in node.walk())

    def _acts(self, node: Node, drawing: bool) -> bool:
        if isinstance(node, (NamedExpression, OpaqueExpression)):
            return True
        if isinstance(node, Key):
            return not drawing
        if isinstance(node, Apply):
            effects = node.effects
            if isinstance(self.scope, Function):
                effects |= self.facts.effects.of_call(node)
            return bool(effects.writes) or effects.open or effects.draws and not drawing
        if not isinstance(node, Call):
            return False
        if isinstance(node.function, Attribute):
            return node.function.name in _MUTATORS and not _gives_array(node.function.object)
        return isinstance(node.function, Name) and node.function.id in _HOST


def value(node: Expression) -> Value:
    """What an expression may be."""
    return UNKNOWN if node.value is None else node.value


def _gives_array(node: Expression) -> bool:
    """Whether a method of this changes nothing: `x.sort()`, `x.at[i].add(y)`, `jnp.append`."""
    inner = node.object if isinstance(node, Subscript) else None
    placed = isinstance(inner, Attribute) and inner.name == "at"
    of_jax = (dotted(node) or "").partition(".")[0] in ("jnp", "jax", "lax")
    return placed or of_jax or isinstance(value(node), Tensor)


def _asked(scope: Scope) -> Iterator[Expression]:
    """The expressions of which only the truth counts."""
    tests: list[Expression] = [n.test for n in scope.nodes(If)]
    tests += [n.test for n in scope.nodes(While)]
    tests += [n.test for n in scope.nodes(Conditional)]
    tests += [n.operand for n in scope.nodes(Unary) if n.operator == "not"]
    tests += [test for n in scope.nodes(ForClause) for test in n.conditions]
    for call in scope.nodes(Call):
        if isinstance(call.function, Name) and call.function.id == "bool":
            tests += call.arguments
    while tests:
        test = tests.pop()
        yield test
        if isinstance(test, Boolean):
            tests += [test.left, test.right]


def place_before(o: Operators, node: Expression) -> Statement | None:
    """The statement before which what an expression does may be done: where it is evaluated once,
    and what is evaluated before it stays what it is.
    """
    inner: Node = node
    while not isinstance(inner.parent, Statement):
        around = inner.parent
        if not isinstance(around, _STRICT) or not _settled_before(around, inner):
            return None
        inner = around
    statement = inner.parent
    if statement in o.preceded or not isinstance(statement.parent, Block):
        return None
    if isinstance(statement, Assign):
        # the targets are evaluated after what they are given, unless it is `x[i] += …`
        named = all(isinstance(target, Name) for target in statement.targets)
        if inner is not statement.expression or statement.operator and not named:
            return None
    elif not isinstance(statement, (If, Return, ExpressionStatement)):
        return None
    o.preceded.add(statement)
    return statement


def _settled_before(around: Node, inner: Node) -> bool:
    """Whether what is evaluated before a part of an expression is names and numbers alone."""
    before = itertools.takewhile(lambda child: child is not inner, around.children())
    return all(_is_settled(child) for child in before)


def _is_settled(node: Node) -> bool:
    if isinstance(node, Attribute):
        return (dotted(node) or "").partition(".")[0] in ("jnp", "jax", "lax")
    return isinstance(node, (Name, Constant, Support))
