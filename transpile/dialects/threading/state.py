"""State as a value: a call that gives a new state becomes a statement of its own.

    x = F.relu(self.bn(self.conv(x)))
    →   y, state = self.bn(self.conv(x), state)
        x = F.relu(y)

What stands before it in the same expression and may be another value later gets a name first.
Conditionals, `and`, `or` and comprehensions around such a call become statements. An old state is
never read again, since the name is bound anew by every statement that gives one.
"""

from collections.abc import Sequence
from typing import Protocol

from ...model.edits import leave_out
from ...model.effects import Write
from ...model.expressions import Call, Comprehension, Lambda, Name, OpaqueExpression
from ...model.names import bound_name
from ...model.node import Expression, Node, Statement
from ...model.operators import Boolean, Conditional, Unary
from ...model.program import Class, Function
from ...model.statements import (
    Assign,
    Block,
    Break,
    ExpressionStatement,
    For,
    If,
    Return,
    Try,
    While,
)
from .evaluation_order import holds, is_fixed, running
from .extraction import (
    assigned_by,
    building,
    is_target,
    joined,
    parts_of,
    rename_targets,
    taken_apart,
)
from .result_names import Names, named


class Form(Protocol):
    """What a dialect says of state."""

    def gives(self, node: Node) -> bool:
        """Whether a node is a call that gives a new state."""

    def takes(self, node: Node) -> bool:
        """Whether what a node is worth depends on the state."""

    def called(self, call: Call, target: Expression | None) -> Statement:
        """A call as a statement: `target, state = call`; None where nobody wants its value."""

    def tail(self, call: Call) -> bool:
        """Whether `return call` gives value and state as they come out of the call."""

    def written(self, write: Write) -> list[Statement]:
        """The statements for a write."""

    def unsaid(self, node: Expression, why: str) -> None:
        """Report that the effects of something cannot be told."""


class Extraction:
    """Brings the calls of one function that give a state out of expressions."""

    def __init__(self, form: Form, names: Names) -> None:
        self.form, self.names = form, names
        self._depth = 0
        self._statement: Statement | None = None  # what calls are taken out of

    def function(self, function: Function) -> None:
        """All of one function. A generator gives no state back: its caller goes on in between."""
        for node in function.nodes(OpaqueExpression):
            if node.word.startswith("yield"):
                why = f"{function.name} is a generator, and its new state cannot come back"
                self.form.unsaid(node, f"{why}: return a list")
        self.block(function.body)

    def block(self, block: Block | None) -> None:
        for statement in list(block.body) if block is not None else ():
            if not self._depth:
                self.names.release()  # what was named for one statement is used up in it
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        """One statement; those that it needs stand before it then."""
        if isinstance(statement, (Function, Class)):
            return
        if isinstance(statement, While):
            self._while(statement)
            return
        if self._as_branches(statement) or self._one_by_one(statement):
            return
        out: list[Statement] = []
        expressions = [c for c in statement.children() if isinstance(c, Expression)]
        if isinstance(statement, Assign) and statement.operator:
            expressions = [*statement.targets, *filter(None, [statement.expression])]
        elif isinstance(statement, Assign):
            expressions = [*filter(None, [statement.expression]), *statement.targets]
        elif isinstance(statement, Write):
            expressions = [statement.value]
        whole, self._statement = self._whole(statement), statement
        self._several(expressions, out, whole)
        block = statement.parent
        assert isinstance(block, Block)
        if out:
            block.precede(statement, out)
        self._finish(block, statement, whole)
        for inner in statement.children():
            if isinstance(inner, Block):
                self.block(inner)
        if isinstance(statement, Try):
            for handler in statement.handlers:
                self.block(handler.body)

    def _finish(self, block: Block, statement: Statement, whole: Call | None) -> None:
        """What the statement itself becomes."""
        if isinstance(statement, Write) and self.form.gives(statement):
            made = self.form.written(statement)
            if not (len(made) == 1 and joined(block, statement, made[0])):
                block.substitute(statement, made)
        elif whole is not None and isinstance(statement, Assign):
            block.substitute(statement, [self.form.called(whole, statement.targets[0])])
        elif whole is not None and isinstance(statement, ExpressionStatement):
            block.substitute(statement, [self.form.called(whole, None)])
        elif (value := named(statement)) is not None and value.id == bound_name(statement):
            leave_out(statement)  # `xs = xs`: what was made has its name

    def _whole(self, statement: Statement) -> Call | None:
        """The call that is all that a statement evaluates: `x = call`, `call`, `return call`."""
        if isinstance(statement, Assign):
            target = statement.targets[0]
            simple = len(statement.targets) == 1 and not statement.operator
            if not simple or statement.annotation is not None or not is_target(target):
                return None
        elif not isinstance(statement, (ExpressionStatement, Return)):
            return None
        call = statement.expression
        if not isinstance(call, Call) or not self.form.gives(call):
            return None
        return call if not isinstance(statement, Return) or self.form.tail(call) else None

    # --- expressions ------------------------------------------------------------------------------

    def _several(
        self, found: Sequence[Expression], out: list[Statement], whole: Call | None = None
    ) -> None:
        """Expressions that are evaluated one after the other."""
        now = list(found)  # what stands there once those before have been seen to
        for i, expression in enumerate(found):
            if not self._has(expression):
                continue
            for j, before in enumerate(now[:i]):
                if not isinstance(before, Name) and self._changes(before):
                    now[j] = self._name(before, out)
            now[i] = self._expression(expression, out, whole)

    def _expression(self, node: Expression, out: list[Statement], whole: Call | None) -> Expression:
        """Bring the calls out of an expression; returns what stands in its place then."""
        if not self._has(node):
            return node
        if isinstance(node, Lambda):
            self.form.unsaid(node.body, "a function inside an expression writes state")
        elif isinstance(node, Conditional) and (self._has(node.body) or self._has(node.orelse)):
            return self._conditional(node, out)
        elif isinstance(node, Boolean) and self._has(node.right):
            return self._boolean(node, out)
        elif isinstance(node, Comprehension):
            return self._comprehension(node, out)
        else:
            self._several(parts_of(node), out)
            if self.form.gives(node) and node is not whole:
                assert isinstance(node, Call)
                name = self.names.of(node, self._statement)
                node.replace(standing := Name(name))
                out.append(self.form.called(node, Name(name)))
                return standing
        return node

    def _name(self, node: Expression, out: list[Statement]) -> Expression:
        name = self.names.fresh("before")
        node.replace(standing := Name(name))
        out.append(Assign([Name(name)], node))
        return standing

    def _conditional(self, node: Conditional, out: list[Statement]) -> Expression:
        self._expression(node.test, out, None)
        name = self.names.fresh("y")
        node.replace(standing := Name(name))
        sides = [Block([Assign([Name(name)], side)]) for side in (node.body, node.orelse)]
        self._made(If(node.test, *sides), out)
        return standing

    def _boolean(self, node: Boolean, out: list[Statement]) -> Expression:
        """`a and b`: b is evaluated where a holds."""
        self._expression(node.left, out, None)
        name = self.names.fresh("y")
        node.replace(standing := Name(name))
        test: Expression = Name(name)
        if node.operator == "or":
            test = Unary("not", test)
        out.append(Assign([Name(name)], node.left))
        self._made(If(test, Block([Assign([Name(name)], node.right)])), out)
        return standing

    def _comprehension(self, node: Comprehension, out: list[Statement]) -> Expression:
        name = self.names.of_made(node, self._statement)
        first = node.clauses[0].iterable
        self._expression(first, out, None)
        rename_targets(node, self.names.fresh)
        node.replace(standing := Name(name))
        empty, added = building(node, name)
        made: Statement = added
        for clause in reversed(node.clauses):
            for condition in reversed(clause.conditions):
                made = If(condition, Block([made]))
            made = For(clause.target, clause.iterable, Block([made]))
        out.append(Assign([Name(name)], empty))
        self._made(made, out)
        return standing

    def _made(self, statement: Statement, out: list[Statement]) -> None:
        """A statement that was made here, with the calls inside of it."""
        block, around = Block([statement]), self._statement
        self._depth += 1
        self.statement(statement)
        self._depth -= 1
        self._statement = around
        out += block.body

    # --- statements with control ------------------------------------------------------------------

    def _while(self, loop: While) -> None:
        """A test that gives a state is asked inside of the loop."""
        if self._has(loop.test):
            if loop.orelse is not None or type(loop) is not While:
                self.form.unsaid(loop.test, "the test of a loop on data writes state")
                return
            test = loop.test
            test.replace(Name("True"))
            ends = If(Unary("not", test), Block([Break()]))
            if loop.body.body:
                loop.body.insert_before(loop.body.body[0], [ends])
        self.block(loop.body)
        self.block(loop.orelse)

    def _as_branches(self, statement: Statement) -> bool:
        """`x = a if test else b`, where a or b give a state, as a branch."""
        if not isinstance(statement, (Assign, Return)):
            return False
        value = statement.expression
        if not isinstance(value, Conditional) or not (
            self._has(value.body) or self._has(value.orelse)
        ):
            return False
        made: Statement | None
        if isinstance(statement, Assign):
            if (name := bound_name(statement)) is None:
                return False
            made = assigned_by(value, name)
        else:
            made = If(value.test, Block([Return(value.body)]), Block([Return(value.orelse)]))
        block = statement.parent
        assert isinstance(block, Block)
        block.substitute(statement, [made])
        self.statement(made)
        return True

    def _one_by_one(self, statement: Statement) -> bool:
        """`a, b = f(x), g(y)`, where f or g gives a state, as two assignments."""
        apart = taken_apart(statement, self._has)
        block = statement.parent
        if not apart or not isinstance(block, Block):
            return False
        block.substitute(statement, apart)
        for one in apart:
            self.statement(one)
        return True

    # --- questions --------------------------------------------------------------------------------

    def _has(self, node: Expression) -> bool:
        if isinstance(node, Lambda):
            return holds(node.body, self.form.gives)
        return any(
            self.form.gives(n) or isinstance(n, Lambda) and holds(n.body, self.form.gives)
            for n in running(node)
        )

    def _changes(self, node: Expression) -> bool:
        """Whether it may be another value once a state has been given."""
        return holds(node, self.form.takes) or not is_fixed(node)
