"""`return`, `break` and `continue` under a branch on data become plain branches, so that both sides of each reach one place.

What follows a branch that may leave moves into the sides that go on:

    if x.sum() > 0:            if x.sum() > 0:
        return x                   return x
    y = x * 2           ->     else:
    return y                       y = x * 2
                                   return y

`continue` is the end of a turn. `break` sets a flag, which the loop's test asks: `running`. A raise under a branch on data is
a check of the values, which cannot be made under jit: it is left out, and reported.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..emit import bare, fresh_name
from ..truth import is_loop_on_data, negated
from ..values import Tensor, is_traced


def run(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    """Restructure one function, inner functions included."""
    jumps = _Jumps(context, node)
    return tree.with_body(node, body) if not tree.same(body := jumps.function(), tree.body_statements(node)) else node


class _Jumps:
    def __init__(self, context: Context, node: cst.FunctionDef) -> None:
        self.context, self.node = context, node
        self.used = tree.names_read(node)
        self.flag: str | None = None  # of the innermost loop

    def function(self) -> list[Any]:
        return self.block(tree.body_statements(self.node), True)

    def traced(self, node: Any) -> bool:
        return isinstance(node, cst.If) and is_traced(self.context.value(node.test))

    def _holds(self, node: Any) -> bool:
        """Whether a branch on data at or below a statement, outside inner loops, leaves the block it stands in."""
        if self.traced(node):
            return tree.returns(node) or tree.jumps(node)
        if self.flag is not None and isinstance(node, cst.If) and tree.jumps(node):
            return True  # the turn becomes a function: no jump can stay one
        if isinstance(node, (cst.If, cst.With)):
            return any(self._holds(s) for s in self._suites(node))
        return False

    def _suites(self, node: Any) -> list[Any]:
        orelse = getattr(node, "orelse", None)
        return [*tree.body_statements(node), *([orelse] if isinstance(orelse, cst.If) else tree.body_statements(orelse) if orelse is not None else [])]

    def block(self, statements: list[Any], tail: bool) -> list[Any]:
        """`tail`: what follows the block is the end of the function, or of the turn of a loop."""
        out: list[Any] = []
        for i, statement in enumerate(statements):
            rest = statements[i + 1 :]
            if self.flag and tail and not rest and self._only_breaks(statement):
                flag = tree.assignment(self.flag, negated(self.context, bare(statement.test)))
                return [*out, tree.replace(flag, leading_lines=statement.leading_lines)]
            if self._raises(statement):
                out.extend(self._unchecked(statement, rest, tail))
                return out
            if isinstance(statement, (cst.If, cst.With)) and self._holds(statement) and (rest or isinstance(statement, cst.If)):
                if not tail:
                    out.append(self._refuse(statement))
                    continue
                out.append(self._pushed(statement, rest))
                return out
            if isinstance(statement, (cst.For, cst.While)):
                out.extend(self._loop(statement))
            elif isinstance(statement, cst.FunctionDef):
                out.append(run(self.context, statement))
            elif isinstance(statement, (cst.If, cst.With, cst.Try)):
                out.append(self._inside(statement, tail and not rest))
            elif self.flag is not None and self._leaves(statement):
                return [*out, *self._leave(statement)]
            else:
                out.append(statement)
        return out

    def _inside(self, node: Any, tail: bool) -> Any:
        body = tree.body_statements(node)
        new = node if tree.same(made := self.block(body, tail), body) else tree.with_body(node, made)
        orelse = getattr(node, "orelse", None)
        if isinstance(orelse, cst.If):
            inner = self.block([orelse], tail)
            if not tree.same(inner, [orelse]):
                plain = inner[0] if len(inner) == 1 and isinstance(inner[0], cst.If) else cst.Else(cst.IndentedBlock(inner))
                new = tree.replace(new, orelse=plain)
        elif orelse is not None:
            body = tree.body_statements(orelse)
            if not tree.same(made := self.block(body, tail), body):
                new = tree.replace(new, orelse=tree.with_body(orelse, made))
        return new

    def _pushed(self, node: Any, rest: list[Any]) -> Any:
        """The statement with what follows it moved into the sides that go on."""
        body = tree.body_statements(node)
        then = self.block([*body, *rest] if self._goes_on(body) else body, True)
        if isinstance(node, cst.With):
            return tree.with_body(node, then)
        orelse = [] if node.orelse is None else [node.orelse] if isinstance(node.orelse, cst.If) else tree.body_statements(node.orelse)
        other = self.block([*orelse, *rest] if self._goes_on(orelse) else orelse, True)
        new = tree.with_body(node, then)
        return tree.replace(new, orelse=cst.Else(cst.IndentedBlock(other)) if other else None)

    def _goes_on(self, statements: list[Any]) -> bool:
        return not statements or not (tree.always_returns(statements) or _always_jumps(statements))

    # ------------------------------------------------------------------ loops

    def _loop(self, node: Any) -> list[Any]:
        body = tree.body_statements(node)
        if any(tree.returns(s) and self._returns_on_data(s) for s in body):
            return [self._refuse(node)]
        before, self.flag = self.flag, None
        holds = any(self._holds(s) for s in body) or is_loop_on_data(self.context, node) and any(map(_own_jumps, body))
        if not holds:
            made = self.block(body, False)
            new = node if tree.same(made, body) else tree.with_body(node, made)
            if node.orelse is not None:
                new = tree.replace(new, orelse=self._inside_else(node.orelse))
            self.flag = before
            return [new]
        breaks = any(isinstance(n, cst.Break) for s in body for n in _own_jumps(s))
        self.flag = fresh_name(self.used, "running") if breaks else ""
        flag = self.flag
        made = self.block(body, True) or [tree.statement("pass")]
        out = self._flagged(node, flag, made) if flag else [tree.with_body(node, made)]
        self.flag = before
        return out

    def _inside_else(self, node: cst.Else) -> Any:
        body = tree.body_statements(node)
        return node if tree.same(made := self.block(body, False), body) else tree.with_body(node, made)

    def _flagged(self, node: Any, flag: str, made: list[Any]) -> list[Any]:
        start = tree.statement(f"{flag} = True")
        if isinstance(node, cst.While):
            always = isinstance(node.test, cst.Name) and node.test.value == "True" or tree.code(node.test) == "1"
            test = self._asks(flag) if always else self._both(flag, node.test)
            new = tree.replace(tree.with_body(node, made), test=test, orelse=None)
        else:
            turn = cst.If(self._asks(flag), cst.IndentedBlock(made))
            new = tree.replace(tree.with_body(node, [turn]), orelse=None)
        out = [tree.replace(start, leading_lines=node.leading_lines), tree.replace(new, leading_lines=[])]
        if node.orelse is not None:
            out.append(cst.If(self._asks(flag), cst.IndentedBlock(tree.body_statements(node.orelse))))
        return out

    def _asks(self, flag: str) -> Any:
        return self._boolean(cst.Name(flag))

    def _boolean(self, node: Any) -> Any:
        self.context.facts.values[id(node)] = Tensor(kind="b")
        self.context.facts.kept.append(node)
        return node

    def _both(self, flag: str, test: Any) -> Any:
        left = self._asks(flag)
        right = bare(test)
        if is_traced(self.context.value(test)):
            stand_in = cst.BinaryOperation(cst.Name("a"), cst.BitAnd(), cst.Name("b"))
            return self._boolean(cst.BinaryOperation(left, cst.BitAnd(), tree.fit(stand_in, "right", right)))
        both = cst.BooleanOperation(right, cst.And(), left)
        return self._boolean(tree.replace(both, left=tree.fit(both, "left", right)))

    def _only_breaks(self, node: Any) -> bool:
        """`if n >= 20: break` at the end of a turn: the flag is the opposite of the test."""
        if not self.traced(node) or node.orelse is not None:
            return False
        body = tree.body_statements(node)
        return len(body) == 1 and isinstance(body[0], cst.SimpleStatementLine) and len(body[0].body) == 1 and isinstance(body[0].body[0], cst.Break)

    def _leaves(self, statement: Any) -> bool:
        return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[-1], (cst.Break, cst.Continue))

    def _leave(self, statement: Any) -> list[Any]:
        """`break` sets the flag; `continue` is the end of the turn already."""
        rest = statement.body[:-1]
        out = [tree.replace(statement, body=rest)] if rest else []
        if isinstance(statement.body[-1], cst.Break):
            out.append(tree.replace(tree.statement(f"{self.flag} = False"), leading_lines=statement.leading_lines))
        return out

    def _returns_on_data(self, node: Any) -> bool:
        if self.traced(node):
            return tree.returns(node)
        if isinstance(node, (cst.If, cst.With, cst.For, cst.While, cst.Try)):
            return any(self._returns_on_data(s) for s in self._suites(node))
        return False

    # ------------------------------------------------------------------ checks

    def _raises(self, node: Any) -> bool:
        """`if torch.isnan(x).any(): raise …`, with or without another side."""
        return self.traced(node) and (_only_raises(tree.body_statements(node)) or node.orelse is not None and not isinstance(node.orelse, cst.If) and _only_raises(tree.body_statements(node.orelse)))

    def _unchecked(self, node: Any, rest: list[Any], tail: bool) -> list[Any]:
        self.context.report("data-check", node.test, "a check of a tensor's value cannot raise under jit: it was left out")
        if not _only_raises(tree.body_statements(node)):
            kept = tree.body_statements(node)
        elif node.orelse is None:
            kept = []
        else:
            kept = [node.orelse] if isinstance(node.orelse, cst.If) else tree.body_statements(node.orelse)
        return self.block([*kept, *([] if tree.always_returns(kept) else rest)], tail) or [tree.statement("pass")]

    def _refuse(self, node: Any) -> Any:
        what = node.test if isinstance(node, (cst.If, cst.While)) else node.iter if isinstance(node, cst.For) else node.items[0].item
        poison = self.context.unconverted("traced-branch", what, "a return from inside a loop, under a branch on a tensor's value")
        return cst.SimpleStatementLine([cst.Expr(poison)])


def _own_jumps(node: Any) -> list[Any]:
    """The jumps below a statement that belong to the loop around it."""
    if isinstance(node, (cst.Break, cst.Continue)):
        return [node]
    if isinstance(node, (cst.For, cst.While)):
        return _own_jumps(node.orelse) if node.orelse is not None else []
    if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.BaseExpression)):
        return []
    return [found for child in tree.children(node) for found in _own_jumps(child)]


def _only_raises(statements: list[Any]) -> bool:
    last = statements[-1] if statements else None
    if not (isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Raise)):
        return False
    return all(isinstance(s, cst.SimpleStatementLine) and all(isinstance(b, (cst.Raise, cst.Expr, cst.Assign)) for b in s.body) for s in statements)


def _always_jumps(statements: list[Any]) -> bool:
    """Whether the end of these statements is a break or continue, on all ways."""
    last = statements[-1]
    if isinstance(last, cst.SimpleStatementLine):
        return isinstance(last.body[-1], (cst.Break, cst.Continue, cst.Return, cst.Raise))
    if isinstance(last, cst.If) and last.orelse is not None:
        other = [last.orelse] if isinstance(last.orelse, cst.If) else tree.body_statements(last.orelse)
        return _always_jumps(tree.body_statements(last)) and _always_jumps(other)
    return False
