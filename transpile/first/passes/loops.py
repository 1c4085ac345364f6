"""`while` on a tensor's value becomes `lax.while_loop`, and a loop whose number of turns the data tells `lax.fori_loop`.

What a turn reads and sets again, or what is read after the loop, is carried. Breaks have become a flag in the test before.
`while n < 10 and …`, of a counter that goes up by one, is a scan of 10 turns that may do nothing: it has a gradient backwards.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..dataflow import certain, exposed, reads, writes
from ..emit import bare, call, fresh_name, function, names, returning, spaced
from ..lowering import Lowering, Refused
from ..truth import is_loop_on_data
from ..values import Tensor


def run(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    """Lower every loop on data of one function, inner ones first."""
    if not any(is_loop_on_data(context, n) for n in tree.nodes(node.body, cst.For, cst.While)):
        return node
    return _Loops(context, node).function()  # type: ignore[no-any-return]


MOST = 1000  # turns up to which a loop with a bound goes through all of them, for the sake of its gradient


class _Loops(Lowering):
    diagnostic = "traced-loop"
    where = "inside a loop on a tensor's value"
    unharmed = (Tensor,)

    def wants(self, node: Any) -> bool:
        return is_loop_on_data(self.context, node)

    def lower(self, old: Any, new: Any) -> list[Any]:
        return self._while(old, new) if isinstance(old, cst.While) else self._for(old, new)

    # ------------------------------------------------------------------ one loop

    def _while(self, old: cst.While, node: cst.While) -> list[Any]:
        body = tree.body_statements(node)
        carried = self._carried(old, body, reads(node.test))
        body, test = self._without_flag(old, body, node.test, carried)
        carry, single = names(carried), len(carried) == 1
        parameter = carried[0] if single else fresh_name(tree.names_read(self.node), "carry")
        unpack = [] if single else [tree.assignment(names(carried), cst.Name(parameter))]
        asked = [n if n in reads(test) else "_" for n in carried]
        opened = [] if single else [tree.assignment(names(asked), cst.Name(parameter))]
        tested, turned = self.free("condition"), self.free("body")
        condition = function(tested, [parameter], [*opened, cst.SimpleStatementLine([cst.Return(bare(test))])])
        turn = function(turned, [parameter], [*unpack, *returning(body, carried)])
        start = carry if single else tree.parenthesised(carry)
        bound = self._bound(node.test, tree.body_statements(node))
        if bound is None:
            value = call("lax.while_loop", [cst.Name(tested), cst.Name(turned), start])
        else:
            value = call(self.context.name("bounded_while"), [cst.Name(tested), cst.Name(turned), start, cst.Integer(str(bound))])
        return [spaced(condition), spaced(turn), spaced(tree.assignment(names(carried), value))]

    def _for(self, old: cst.For, node: cst.For) -> list[Any]:
        assert isinstance(node.iter, cst.Call)
        args = [a.value for a in node.iter.args]
        if not isinstance(node.target, cst.Name) or len(args) > 2 or node.orelse is not None:
            raise Refused("a loop over range with a step, whose bound is a tensor's value")
        body = tree.body_statements(node)
        index = node.target.value
        if index in self.liveness.after.get(id(old), frozenset()):
            raise Refused(f"{index} is read after a loop whose number of turns follows from data")
        carried = [n for n in self._carried(old, body, []) if n != index]
        single = len(carried) == 1
        parameter = carried[0] if single else fresh_name(tree.names_read(self.node), "carry")
        unpack = [] if single else [tree.assignment(names(carried), cst.Name(parameter))]
        turned = self.free("body")
        turn = function(turned, [index, parameter], [*unpack, *returning(body, carried)])
        first, last = (tree.expression("0"), args[0]) if len(args) == 1 else args
        carry = names(carried)
        value = call("lax.fori_loop", [first, last, cst.Name(turned), carry if single else tree.parenthesised(carry)])
        return [spaced(turn), spaced(tree.assignment(names(carried), value))]

    def _carried(self, old: Any, body: list[Any], tested: list[str]) -> list[str]:
        """What a turn sets and the next turn, the test or what comes after reads. Raises Refused."""
        self._check(body)
        live = self.liveness.after.get(id(old), frozenset())
        self.refuse_functions(body, live | set(exposed(body)))
        before = {*exposed(body), *tested}
        found = [n for n in writes(body) if n in before or n in live]
        self.refuse_dicts(found)
        if not found:
            raise Refused("a loop on a tensor's value that changes nothing")
        for name in found:
            if name not in self.defined:
                raise Refused(f"{name} is set only inside a loop that may have no turn")
        return found

    def _check(self, body: list[Any]) -> None:
        block = cst.IndentedBlock(body)
        if any(isinstance(n, (cst.Return, cst.Raise)) for n in tree.walk_scope(block)):
            raise Refused(f"a return or raise {self.where}")
        self.check(block, certain(body))

    def _without_flag(self, old: Any, body: list[Any], test: Any, carried: list[str]) -> tuple[list[Any], Any]:
        """`n += 1; running = n < 20` at the end of a turn, where n starts at a number below 20, is part of the test."""
        flag = _flag_of(test)
        last = body[-1].body[0] if isinstance(body[-1], cst.SimpleStatementLine) and len(body[-1].body) == 1 else None
        if flag is None or not isinstance(last, cst.Assign) or tree.code(last.targets[0].target) != flag or len(body) < 2:
            return body, test
        elsewhere = {*writes(body[:-1]), *exposed(body), *self.liveness.after.get(id(old), ())}
        start = {n: self._start(n) for n in reads(last.value)}
        if flag in elsewhere or not set(start) <= set(carried) or not _holds(last.value, start):
            return body, test
        self.before[:] = [s for s in self.before if tree.names_assigned(s) != [flag]]
        carried.remove(flag)
        if isinstance(test, cst.Name):
            return body[:-1], last.value
        asked = tree.replace(test, left=tree.fit(test, "left", test.right), right=tree.fit(test, "right", last.value))
        return body[:-1], asked

    def _bound(self, test: Any, body: list[Any]) -> int | None:
        """How many turns there are at most, where the test says so of a counter that each turn moves by one: `while n < 10 and …`."""
        if isinstance(test, cst.BinaryOperation) and isinstance(test.operator, cst.BitAnd):
            found = [b for b in (self._bound(test.left, body), self._bound(test.right, body)) if b is not None]
            return min(found) if found else None
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
            return None
        counter, target = test.left, test.comparisons[0]
        if not isinstance(counter, cst.Name) or not isinstance(target.comparator, cst.Integer) or not isinstance(target.operator, (cst.LessThan, cst.LessThanEqual)):
            return None
        name, start = counter.value, self._start(counter.value)
        steps = [s for s in body if isinstance(s, cst.SimpleStatementLine) and tree.code(s).strip() in (f"{name} += 1", f"{name} = {name} + 1")]
        if not isinstance(start, int) or len(steps) != 1 or sum(name in writes([s]) for s in body) != 1:
            return None
        turns = int(target.comparator.value, 0) - start + isinstance(target.operator, cst.LessThanEqual)
        return turns if 0 < turns <= MOST else None

    def _start(self, name: str) -> Any:
        """The literal that a name holds before the loop, or None."""
        for statement in reversed(self.before):
            if name in tree.names_assigned(statement):
                small = tree.only_small(statement)
                if isinstance(small, cst.Assign) and isinstance(small.value, (cst.Integer, cst.Float)):
                    return small.value.evaluated_value
                return None
        return None


def _flag_of(test: Any) -> str | None:
    """The flag in `running` or `running & …`."""
    if isinstance(test, cst.BinaryOperation) and isinstance(test.operator, cst.BitAnd):
        test = test.left
    return test.value if isinstance(test, cst.Name) else None


def _holds(test: Any, start: dict[str, Any]) -> bool:
    """Whether a comparison of numbers is true where names have these values."""
    plain = (cst.Name, cst.Integer, cst.Float)
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or None in start.values():
        return False
    sides = [test.left, test.comparisons[0].comparator]
    if not all(isinstance(s, plain) for s in sides):
        return False
    a, b = (start[s.value] if isinstance(s, cst.Name) else s.evaluated_value for s in sides)  # type: ignore[attr-defined]
    compare = {cst.LessThan: a < b, cst.LessThanEqual: a <= b, cst.GreaterThan: a > b, cst.GreaterThanEqual: a >= b, cst.Equal: a == b, cst.NotEqual: a != b}
    return bool(compare.get(type(test.comparisons[0].operator), False))
