"""`return`, `break` and `continue` under a branch on data become plain branches, so that both sides of each reach one place.

What follows a branch that may leave moves into the sides that go on:

    if x.sum() > 0:            if x.sum() > 0:
        return x                   return x
    y = x * 2           ->     else:
    return y                       y = x * 2
                                   return y

`continue` is the end of a turn. `break` sets a flag, which the loop's test asks: `running`. A `return` from a turn breaks, and
returns after the loop:

    for i in range(9):         running = True
        x = x / 2              for i in range(9):
        if x.sum() < 1:            if running:
            return x                   x = x / 2
    return y            ->             running = not x.sum() < 1
                               if not running:
                                   return x
                               return y

What is returned is kept as `result` where it cannot be told after the loop any more. A raise under a branch on data is a check of
the values, which cannot be made under jit: it is left out, and reported.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..dataflow import certain, given
from ..emit import bare, fresh_name
from ..liveness import Liveness
from ..truth import is_loop_on_data, negated
from ..values import Tensor, is_traced


def run(context: Context, node: cst.FunctionDef, outer: Set[str] | None = None) -> cst.FunctionDef:
    """Restructure one function, inner functions included."""
    if outer is None:
        context.unset.clear()
    jumps = _Jumps(context, node, outer or set())
    return tree.with_body(node, body) if not tree.same(body := jumps.function(), tree.body_statements(node)) else node


@dataclass
class _Loop:
    """A loop whose jumps become a flag."""

    flag: str = ""  # what its test asks, where it is left before its end
    returned: str = ""  # set where it is left by a return; "" where only returns leave it
    result: str = ""  # what keeps the value returned; "" where that can be told after the loop


class _Jumps:
    def __init__(self, context: Context, node: cst.FunctionDef, outer: Set[str]) -> None:
        self.context, self.node = context, node
        self.used = tree.names_read(node)
        self.liveness = Liveness(node, None)
        self.defined = set(outer) | given(node)
        self.loop: _Loop | None = None  # the innermost one

    def function(self) -> list[Any]:
        return self.block(tree.body_statements(self.node), True)

    def traced(self, node: Any) -> bool:
        return isinstance(node, cst.If) and is_traced(self.context.value(node.test))

    def _holds(self, node: Any) -> bool:
        """Whether a branch on data at or below a statement, outside inner loops, leaves the block it stands in."""
        if self.traced(node):
            return tree.returns(node) or tree.jumps(node)
        if self.loop is not None and isinstance(node, cst.If) and (tree.jumps(node) or self.loop.flag and tree.returns(node)):
            return True  # the turn becomes a function: no jump can stay one
        if isinstance(node, (cst.If, cst.With)):
            return any(self._holds(s) for s in self._suites(node))
        return isinstance(node, (cst.For, cst.While)) and self._returns_on_data(node)

    def _suites(self, node: Any) -> list[Any]:
        return [*tree.body_statements(node), *tree.else_statements(node)]

    def block(self, statements: list[Any], tail: bool) -> list[Any]:
        """`tail`: what follows the block is the end of the function, or of the turn of a loop."""
        out: list[Any] = []
        for i, statement in enumerate(statements):
            rest = statements[i + 1 :]
            statement, *more = self._guarded(statement, rest)
            if more:
                return [*out, *self.block([statement, *more, *rest], tail)]
            if self.loop and self.loop.flag and tail and not rest and self._only_breaks(statement):
                flag = tree.assignment(self.loop.flag, self._boolean(negated(self.context, bare(statement.test))))
                return [*out, tree.replace(flag, leading_lines=statement.leading_lines)]
            if self._raises(statement):
                out.extend(self._unchecked(statement, rest, tail))
                return out
            if isinstance(statement, (cst.If, cst.With)) and self._holds(statement) and (rest or isinstance(statement, cst.If)):
                if not tail:
                    out.append(self._refuse(statement))
                    continue
                out.extend(self._pushed(statement, rest))
                return out
            if isinstance(statement, (cst.For, cst.While)):
                made, after = self._loop(statement, tail)
                out.extend(made)
                if after:
                    return [*out, *self.block([*after, *rest], tail)]
            elif isinstance(statement, cst.FunctionDef):
                out.append(run(self.context, statement, self.defined))
            elif isinstance(statement, (cst.If, cst.With, cst.Try)):
                out.append(self._inside(statement, tail and not rest))
            elif self.loop is not None and self._leaves(statement):
                return [*out, *self._leave(statement)]
            else:
                out.append(statement)
            self.defined |= set(tree.names_assigned(statement))
        return out

    def _guarded(self, node: Any, rest: list[Any]) -> list[Any]:
        """`if m is not None and m.sum() > 0:` is two branches: the second one, on data, must not be there for what is None.

        So is `if m is None or m.sum() == 0:`. The side that both tests lead to is written twice, if it is short.
        """
        test = node.test if isinstance(node, cst.If) else None
        if not isinstance(test, cst.BooleanOperation) or is_traced(self.context.value(test.left)) or not is_traced(self.context.value(test.right)):
            return [node]
        both = isinstance(test.operator, cst.And)
        given = cst.IsNot if both else cst.Is
        guarded = {tree.code(n.left) for n in tree.nodes(test.left, cst.Comparison) if isinstance(n.comparisons[0].operator, given)}
        other = tree.else_statements(node)
        inner = tree.replace(node, test=bare(test.right), leading_lines=[])
        if both:
            if not guarded or other and (_is_long(other) or not _reads(tree.body_statements(node), guarded)):
                return [node]
            return [tree.replace(node, test=bare(test.left), body=cst.IndentedBlock([inner]))]
        if not guarded or _is_long(tree.body_statements(node)) or not _reads([*other, *rest], guarded):
            return [node]
        if not other and tree.always_returns(tree.body_statements(node)):
            return [tree.replace(node, test=bare(test.left)), inner]
        return [tree.replace(node, test=bare(test.left), orelse=inner)]

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

    def _pushed(self, node: Any, rest: list[Any]) -> list[Any]:
        """The statement with what follows it moved into the sides that go on."""
        body = tree.body_statements(node)
        if rest and len(body) == 1 and tree.code(body[0]).strip() == "pass":
            body = []
        then = self.block([*body, *rest] if self._goes_on(body) else body, True)
        new = tree.with_body(node, then)
        if isinstance(node, cst.With):
            return [new]
        orelse = tree.else_statements(node)
        other = self.block([*orelse, *rest] if self._goes_on(orelse) else orelse, True)
        if node.orelse is None and tree.always_returns(then) and not is_traced(self.context.value(node.test)):
            return [new, *other]  # Python's own `if`: what follows is where it was
        return [tree.replace(new, orelse=cst.Else(cst.IndentedBlock(other)) if other else None)]

    def _goes_on(self, statements: list[Any]) -> bool:
        return not statements or not (tree.always_returns(statements) or _always_jumps(statements))

    # ------------------------------------------------------------------ loops

    def _loop(self, node: Any, tail: bool) -> tuple[list[Any], list[Any]]:
        """What stands for a loop, and what must be asked right after it: whether it has returned."""
        body = tree.body_statements(node)
        returns = [n.value for n in tree.walk_scope(node.body) if isinstance(n, cst.Return)] if self._returns_on_data(node) else []
        before, self.loop = self.loop, None
        holds = any(self._holds(s) for s in body) or is_loop_on_data(self.context, node) and any(map(_own_jumps, body))
        defined = set(self.defined)
        if isinstance(node, cst.For):
            self.defined |= set(tree.target_names(node.target))
        if not holds:
            made = self.block(body, False)
            new = node if tree.same(made, body) else tree.with_body(node, made)
            if node.orelse is not None:
                new = tree.replace(new, orelse=self._inside_else(node.orelse))
            self.loop, self.defined = before, defined
            return [new], []
        breaks = any(isinstance(n, cst.Break) for s in body for n in _own_jumps(s))
        loop = self._left(node, returns, breaks, defined, tail)
        if loop is None:
            self.loop, self.defined = before, defined
            return [self._refuse(node)], []
        self.loop = loop
        made = self.block(body, True) or [tree.statement("pass")]
        self.loop, self.defined = before, defined
        if not loop.flag:
            return [tree.with_body(node, made)], []
        return self._flagged(node, loop, made), self._after(loop, returns)

    def _left(self, node: Any, returns: list[Any], breaks: bool, defined: set[str], tail: bool) -> _Loop | None:
        """How a loop is left; None where it returns what cannot be told."""
        loop = _Loop(fresh_name(self.used, "running") if breaks or returns else "")
        if not returns:
            return loop
        if not tail or node.orelse is not None:
            return None
        if breaks:
            loop.returned = fresh_name(self.used, "returned")
        texts = {tree.code(r) if r is not None else "" for r in returns}
        targets = {n for inner in [node, *tree.walk(node.body)] if isinstance(inner, cst.For) for n in tree.target_names(inner.target)}
        told = all(r is None or tree.names_read(r) <= defined | _free(node, r) for r in returns)
        if len(texts) > 1 or not told or any(r is not None and tree.names_read(r) & targets for r in returns):
            if isinstance(node, cst.While) or is_loop_on_data(self.context, node) or None in returns:
                return None
            loop.result = fresh_name(self.used, "result")
        return loop

    def _after(self, loop: _Loop, returns: list[Any]) -> list[Any]:
        if not returns:
            return []
        value = returns[0]
        if loop.result:
            value = cst.Name(loop.result)
            self.context.facts.carry(returns[0], value)
        leave = cst.IndentedBlock([cst.SimpleStatementLine([cst.Return(value) if value is not None else cst.Return()])])
        if loop.returned:
            return [cst.If(self._asks(loop.returned), leave)]
        return [cst.If(self._asks(loop.flag), cst.IndentedBlock([tree.statement("pass")]), cst.Else(leave))]

    def _inside_else(self, node: cst.Else) -> Any:
        body = tree.body_statements(node)
        return node if tree.same(made := self.block(body, False), body) else tree.with_body(node, made)

    def _flagged(self, node: Any, loop: _Loop, made: list[Any]) -> list[Any]:
        start = [tree.statement(f"{loop.flag} = True")]
        if loop.returned:
            start.append(tree.statement(f"{loop.returned} = False"))
        if loop.result:
            start.append(self._unset(loop.result))
        if isinstance(node, cst.While):
            always = isinstance(node.test, cst.Name) and node.test.value == "True" or tree.code(node.test) == "1"
            test = self._asks(loop.flag) if always else self._both(loop.flag, node.test)
            self.context.facts.origin.setdefault(id(test), self.context.facts.origin.get(id(node.test), node.test))  # where diagnostics show it
            new = tree.replace(tree.with_body(node, made), test=test, orelse=None)
        else:
            node, kept = self._kept(node, made)
            start += [self._unset(n) for n in self._set_first(node, made, loop)]
            turn = cst.If(self._asks(loop.flag), cst.IndentedBlock([*kept, *made]))
            new = tree.replace(tree.with_body(node, [turn]), orelse=None)
        out = [tree.replace(start[0], leading_lines=node.leading_lines), *start[1:], tree.replace(new, leading_lines=[])]
        if node.orelse is not None:
            out.append(cst.If(self._asks(loop.flag), cst.IndentedBlock(tree.body_statements(node.orelse))))
        return out

    def _kept(self, node: cst.For, made: list[Any]) -> tuple[cst.For, list[Any]]:
        """The loop and the statements that keep its target where that is read later: turns after a break must not change it."""
        live = self.liveness.after.get(id(node), frozenset())
        names = [n for n in tree.target_names(node.target) if n in live]
        kept = []
        renamed: dict[str, str] = {n: fresh_name(self.used, f"next_{n}") for n in names}
        for name in names:
            value = cst.Name(renamed[name])
            found = next(n for n in tree.walk(node.target) if isinstance(n, cst.Name) and n.value == name)
            self.context.facts.carry(found, value)
            kept.append(tree.assignment(name, value))
        target = tree.rewrite(node.target, lambda n: cst.Name(renamed[n.value]) if isinstance(n, cst.Name) and n.value in renamed else None)
        new = tree.replace(node, target=target) if names else node
        self.liveness.after[id(new)] = live
        return new, kept

    def _set_first(self, node: cst.For, made: list[Any], loop: _Loop) -> list[str]:
        """Names that any turn sets for certain, before it may break, and that nothing has set before the loop: they start unset."""
        live = self.liveness.after.get(id(node), frozenset())
        first = set()
        for statement in made:
            if not isinstance(statement, cst.SimpleStatementLine):
                break
            first |= set(tree.names_assigned(statement))
        if node.orelse is not None:
            first |= {n for s in made for n in tree.names_assigned(s)} & certain(tree.body_statements(node.orelse))
        first |= {n for n in live if f"next_{n}" in tree.target_names(node.target)}
        return sorted(n for n in first & live if n not in self.defined and n not in (loop.flag, loop.returned, loop.result))

    def _unset(self, name: str) -> Any:
        """`name = None`, of a name that is set before it is read: a choice between it and an array takes the array's type."""
        self.context.unset.add(name)
        return tree.statement(f"{name} = None")

    def _asks(self, flag: str) -> Any:
        return self._boolean(cst.Name(flag))

    def _boolean(self, node: Any) -> Any:
        self.context.facts.tell(node, Tensor(kind="b"))
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
        if not self.traced(node) or node.orelse is not None or self.loop is None:
            return False
        body = tree.body_statements(node)
        leaving = cst.Break if self.loop.result or self.loop.returned else (cst.Break, cst.Return)
        return len(body) == 1 and isinstance(body[0], cst.SimpleStatementLine) and len(body[0].body) == 1 and isinstance(body[0].body[0], leaving)

    def _leaves(self, statement: Any) -> bool:
        leaving = (cst.Break, cst.Continue, cst.Return) if self.loop is not None and self.loop.flag else (cst.Break, cst.Continue)
        return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[-1], leaving)

    def _leave(self, statement: Any) -> list[Any]:
        """`break` and `return` set the flag; `continue` is the end of the turn already."""
        assert self.loop is not None
        rest, last = statement.body[:-1], statement.body[-1]
        out = [tree.replace(statement, body=rest)] if rest else []
        if isinstance(last, cst.Return) and last.value is not None and self.loop.result:
            out.append(tree.assignment(self.loop.result, last.value))
        if isinstance(last, cst.Return) and self.loop.returned:
            out.append(tree.statement(f"{self.loop.returned} = True"))
        if not isinstance(last, cst.Continue):
            out.append(tree.assignment(self.loop.flag, self._boolean(cst.Name("False"))))
            out[-1 if len(out) == 1 else 0] = tree.replace(out[0], leading_lines=statement.leading_lines)
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
        kept = tree.body_statements(node) if not _only_raises(tree.body_statements(node)) else tree.else_statements(node)
        return self.block([*kept, *([] if tree.always_returns(kept) else rest)], tail) or [tree.statement("pass")]

    def _refuse(self, node: Any) -> Any:
        what = node.test if isinstance(node, (cst.If, cst.While)) else node.iter if isinstance(node, cst.For) else node.items[0].item
        poison = self.context.unconverted("traced-branch", what, "a return from inside a loop, under a branch on a tensor's value")
        return cst.SimpleStatementLine([cst.Expr(poison)])


def _free(loop: Any, value: Any) -> set[str]:
    """Names in an expression that nothing in the loop sets: functions, modules, what stands outside."""
    return tree.names_read(value) - {n for s in tree.body_statements(loop) for n in tree.names_assigned(s)}


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
        return _always_jumps(tree.body_statements(last)) and _always_jumps(tree.else_statements(last))
    return False


def _is_long(statements: list[Any]) -> bool:
    """Whether statements are too many to be written twice."""
    return sum(isinstance(n, cst.BaseSmallStatement) for s in statements for n in tree.walk(s)) > 4


def _reads(statements: list[Any], expressions: set[str]) -> bool:
    """Whether any of these names and attributes is read."""
    return any(tree.code(n) in expressions for s in statements for n in tree.walk(s) if isinstance(n, (cst.Name, cst.Attribute)))
