"""`while` on a tensor's value becomes `lax.while_loop`, and a loop whose number of turns the data tells `lax.fori_loop`.

What a turn reads and sets again, or what is read after the loop, is carried. Breaks have become a flag in the test before.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..dataflow import certain, exposed, reads, writes
from ..liveness import Liveness
from ..truth import call
from ..values import Tensor, is_traced

_GROWING = frozenset("append extend insert pop remove clear update setdefault add discard".split())


def run(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    """Lower every loop on data of one function, inner ones first."""
    if not any(is_on_data(context, n) for n in tree.walk(node.body)):
        return node
    return _Loops(context, node, set()).function()  # type: ignore[no-any-return]


def is_on_data(context: Context, node: Any) -> bool:
    """Whether the number of turns of a loop follows from data."""
    if isinstance(node, cst.While):
        return is_traced(context.value(node.test))
    if isinstance(node, cst.For) and isinstance(node.iter, cst.Call) and tree.dotted(node.iter.func) == "range":
        return any(is_traced(context.value(a.value)) for a in node.iter.args)
    return False


class _Refused(Exception):
    """Why a loop cannot be lowered."""


class _Loops:
    def __init__(self, context: Context, node: Any, outer: set[str]) -> None:
        self.context, self.node = context, node
        self.liveness = Liveness(node, None)
        self.defined = outer | {p.name.value for p in tree.walk(node.params) if isinstance(p, cst.Param)}
        self.used = tree.names_read(node)
        self.before: list[Any] = []  # the statements of the block before the current one

    def function(self) -> Any:
        return tree.with_body(self.node, self.block(tree.body_statements(self.node)))

    def block(self, statements: list[Any]) -> list[Any]:
        out: list[Any] = []
        for statement in statements:
            self.before = out
            out.extend(self.statement(statement))
            self.defined |= set(tree.names_assigned(statement))
        return out

    def statement(self, node: Any) -> list[Any]:
        if isinstance(node, cst.FunctionDef):
            return [_Loops(self.context, node, set(self.defined)).function()]
        if not isinstance(node, (cst.If, cst.For, cst.While, cst.With, cst.Try)):
            return [node]
        before, preceding = set(self.defined), self.before
        if isinstance(node, cst.For):
            self.defined |= set(tree.target_names(node.target))
        new: Any = tree.with_body(node, self.block(tree.body_statements(node)))
        orelse = getattr(node, "orelse", None)
        self.defined = set(before)
        if isinstance(orelse, cst.If):
            new = tree.replace(new, orelse=self.statement(orelse)[0])
        elif orelse is not None:
            new = tree.replace(new, orelse=tree.with_body(orelse, self.block(tree.body_statements(orelse))))
        self.defined, self.before = before, preceding
        if not is_on_data(self.context, node):
            return [new]
        loop: Any = node
        try:
            made = self._while(loop, new) if isinstance(node, cst.While) else self._for(loop, new)
        except _Refused as why:
            what = loop.test if isinstance(node, cst.While) else loop.iter
            return [cst.SimpleStatementLine([cst.Expr(self.context.unconverted("traced-loop", what, str(why)))])]
        if any(line.comment is not None for line in node.leading_lines):
            made[0] = tree.replace(made[0], leading_lines=node.leading_lines)
        return made

    # ------------------------------------------------------------------ one loop

    def _while(self, old: cst.While, node: cst.While) -> list[Any]:
        body = tree.body_statements(node)
        carried = self._carried(old, body, reads(node.test))
        body, test = self._without_flag(old, body, node.test, carried)
        carry, single = _names(carried), len(carried) == 1
        parameter = carried[0] if single else self._fresh("carry")
        unpack = [] if single else [tree.assignment(_names(carried), cst.Name(parameter))]
        asked = [n if n in reads(test) else "_" for n in carried]
        opened = [] if single else [tree.assignment(_names(asked), cst.Name(parameter))]
        condition = self._definition("condition", [parameter], [*opened, cst.SimpleStatementLine([cst.Return(_bare(test))])])
        turn = self._definition("body", [parameter], [*unpack, *_returning(body, carried)])
        start = carry if single else tree.parenthesised(carry)
        value = call("lax.while_loop", [cst.Name("condition"), cst.Name("body"), start])
        return [_spaced(condition), _spaced(turn), _spaced(tree.assignment(_names(carried), value))]

    def _for(self, old: cst.For, node: cst.For) -> list[Any]:
        assert isinstance(node.iter, cst.Call)
        args = [a.value for a in node.iter.args]
        if not isinstance(node.target, cst.Name) or len(args) > 2 or node.orelse is not None:
            raise _Refused("a loop over range with a step, whose bound is a tensor's value")
        body = tree.body_statements(node)
        index = node.target.value
        if index in self.liveness.after.get(id(old), frozenset()):
            raise _Refused(f"{index} is read after a loop whose number of turns follows from data")
        carried = [n for n in self._carried(old, body, []) if n != index]
        single = len(carried) == 1
        parameter = carried[0] if single else self._fresh("carry")
        unpack = [] if single else [tree.assignment(_names(carried), cst.Name(parameter))]
        turn = self._definition("body", [index, parameter], [*unpack, *_returning(body, carried)])
        first, last = (tree.expression("0"), args[0]) if len(args) == 1 else args
        carry = _names(carried)
        value = call("lax.fori_loop", [first, last, cst.Name("body"), carry if single else tree.parenthesised(carry)])
        return [_spaced(turn), _spaced(tree.assignment(_names(carried), value))]

    def _carried(self, old: Any, body: list[Any], tested: list[str]) -> list[str]:
        """What a turn sets and the next turn, the test or what comes after reads. Raises _Refused."""
        self._check(body)
        live = self.liveness.after.get(id(old), frozenset())
        before = {*exposed(body), *tested}
        found = [n for n in writes(body) if n in before or n in live]
        if not found:
            raise _Refused("a loop on a tensor's value that changes nothing")
        for name in found:
            if name not in self.defined:
                raise _Refused(f"{name} is set only inside a loop that may have no turn")
        return found

    def _check(self, body: list[Any]) -> None:
        block = cst.IndentedBlock(body)
        own = set(certain(body))
        for node in tree.walk_scope(block):
            if isinstance(node, (cst.Return, cst.Raise)):
                raise _Refused("a return or raise inside a loop on a tensor's value")
            if isinstance(node, (cst.Yield, cst.Global, cst.Nonlocal, cst.Await, cst.Del)):
                raise _Refused("a statement inside a loop on a tensor's value that has no counterpart in a function")
            if isinstance(node, cst.Assign) and any(isinstance(t.target, cst.Attribute) for t in node.targets):
                raise _Refused("an attribute is set inside a loop on a tensor's value")
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _GROWING:
                holder = node.func.value
                if isinstance(holder, cst.Name) and holder.value not in own and not isinstance(self.context.value(holder), Tensor):
                    raise _Refused(f"the list or dict {holder.value} grows in a loop whose number of turns follows from data")

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

    def _start(self, name: str) -> Any:
        """The literal that a name holds before the loop, or None."""
        for statement in reversed(self.before):
            if name in tree.names_assigned(statement):
                small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
                if isinstance(small, cst.Assign) and isinstance(small.value, (cst.Integer, cst.Float)):
                    return small.value.evaluated_value
                return None
        return None

    def _definition(self, name: str, parameters: list[str], statements: list[Any]) -> Any:
        made = tree.statement(f"def {name}({', '.join(parameters)}):\n    pass\n")
        return tree.with_body(made, statements)

    def _fresh(self, stem: str) -> str:
        name, n = stem, 1
        while name in self.used:
            n += 1
            name = f"{stem}_{n}"
        return name


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


def _returning(body: list[Any], carried: list[str]) -> list[Any]:
    last = body[-1]
    if isinstance(last, cst.SimpleStatementLine) and len(last.body) == 1 and isinstance(last.body[0], cst.Assign) and len(last.body[0].targets) == 1:
        target = last.body[0].targets[0].target
        if tree.target_names(target) == carried and (isinstance(target, cst.Name) or len(carried) > 1 and isinstance(target, cst.Tuple)):
            return [*body[:-1], tree.replace(last, body=[cst.Return(last.body[0].value)])]
    return [*body, cst.SimpleStatementLine([cst.Return(_names(carried))])]


def _spaced(node: Any) -> Any:
    return tree.replace(node, leading_lines=[cst.EmptyLine(indent=False)])


def _names(names: list[str]) -> Any:
    return cst.Name(names[0]) if len(names) == 1 else tree.expression(", ".join(names))


def _bare(test: Any) -> Any:
    return tree.replace(test, lpar=[], rpar=[]) if getattr(test, "lpar", None) and not isinstance(test, cst.Tuple) else test
