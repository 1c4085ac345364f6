"""`if` on a tensor's value becomes `lax.cond`, or `jnp.where` where both sides are plain arithmetic on one array.

Returns and jumps have been brought to the ends of the sides before. What a side reads and sets becomes the arguments and the
results of a function of its own; params, state that is only read, static values and modules are closed over.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..context import Context
from ..dataflow import certain, exposed, writes
from ..liveness import Liveness
from ..truth import alike, call
from ..values import NONE, Module, Static, Tensor, is_traced

_GROWING = frozenset("append extend insert pop remove clear update setdefault add discard".split())


def run(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    """Lower every branch on data of one function, inner ones first."""
    if not any(isinstance(n, cst.If) and is_traced(context.value(n.test)) for n in tree.walk(node.body)):
        return node
    return _Branches(context, node, set()).function()  # type: ignore[no-any-return]


class _Refused(Exception):
    """Why a branch cannot be lowered."""


class _Branches:
    def __init__(self, context: Context, node: Any, outer: set[str]) -> None:
        self.context, self.node = context, node
        self.liveness = Liveness(node, None)
        parameters = {p.name.value for p in tree.walk(node.params) if isinstance(p, cst.Param)}
        self.defined = outer | parameters
        self.inherited = outer
        self.kinds: dict[str, Any] = {}
        for n in tree.walk(node):
            if isinstance(n, cst.Name) and id(n) in context.facts.values:
                value = context.value(n)
                self.kinds[n.value] = value if n.value not in self.kinds or isinstance(value, Tensor) else self.kinds[n.value]

    def function(self) -> Any:
        return tree.with_body(self.node, self.block(tree.body_statements(self.node)))

    def block(self, statements: list[Any]) -> list[Any]:
        out: list[Any] = []
        for statement in statements:
            made = self.statement(statement)
            out.extend(made)
            self.defined |= set(tree.names_assigned(statement))
        return out

    def statement(self, node: Any) -> list[Any]:
        if isinstance(node, cst.FunctionDef):
            return [_Branches(self.context, node, set(self.defined)).function()]
        if not isinstance(node, (cst.If, cst.For, cst.While, cst.With, cst.Try)):
            return [node]
        before = set(self.defined)
        if isinstance(node, cst.For):
            self.defined |= set(tree.target_names(node.target))
        new: Any = tree.with_body(node, self.block(tree.body_statements(node)))
        orelse = getattr(node, "orelse", None)
        self.defined = set(before)
        if isinstance(orelse, cst.If):
            inner = self.statement(orelse)
            new = tree.replace(new, orelse=inner[0] if len(inner) == 1 and isinstance(inner[0], cst.If) else cst.Else(cst.IndentedBlock(inner)))
        elif orelse is not None:
            new = tree.replace(new, orelse=tree.with_body(orelse, self.block(tree.body_statements(orelse))))
        self.defined = before
        if isinstance(node, cst.If) and is_traced(self.context.value(node.test)):
            try:
                made = self._lower(node, new)
            except _Refused as why:
                poison = self.context.unconverted("traced-branch", node.test, str(why))
                return [cst.SimpleStatementLine([cst.Expr(poison)])]
            if made and (any(line.comment is not None for line in node.leading_lines) or len(made) == 1):
                first = [] if len(made) == 1 or not node.leading_lines[0].comment else [cst.EmptyLine(indent=False)]
                made[0] = tree.replace(made[0], leading_lines=[*first, *node.leading_lines])
            return made
        return [new]

    # ------------------------------------------------------------------ one branch

    def _lower(self, old: cst.If, node: cst.If) -> list[Any]:
        then, other = tree.body_statements(node), _otherwise(node)
        test = node.test if not node.test.lpar else tree.replace(node.test, lpar=[], rpar=[])
        if tree.always_returns(then) and tree.always_returns(other):
            return self._returning(test, then, other)
        if tree.returns(node):
            if tree.always_returns(then) and not other:
                return self._returning(test, then, [tree.statement("return None")])
            raise _Refused("a return under a branch on a tensor's value, on one side only")
        self._check(then + other)
        live = self.liveness.after.get(id(old), frozenset())
        written = [n for n in dict.fromkeys([*writes(then), *writes(other)])]
        results = [n for n in written if n in live]
        if not results:
            return []
        for name in results:
            partly = [side for side in (then, other) if name not in certain(side) and name in tree.names_assigned(cst.IndentedBlock(side))]
            unset = name not in self.defined and any(name not in certain(side) for side in (then, other))
            if unset or name not in self.defined and partly:
                raise _Refused(f"{name} is set on one side only of a branch on a tensor's value")
        chosen = self._choice(test, then, other, results)
        if chosen is not None:
            return chosen
        operands = self._operands(then, other, results)
        made = [self._side(name, operands, side, results) for name, side in (("if_true", then), ("if_false", other)) if side]
        sides: list[Any] = [cst.Name(name) if side else self._unchanged(operands, results) for name, side in (("if_true", then), ("if_false", other))]
        helper = self._differ(then, other, results)
        function = self.context.name("choose") if helper else "lax.cond"
        value = call(function, [test, *sides, *map(cst.Name, operands)])
        return [_spaced(m) for m in [*made, tree.assignment(_names(results), value)]]

    def _returning(self, test: Any, then: list[Any], other: list[Any]) -> list[Any]:
        self._check(then + other)
        operands = self._operands(then, other, [])
        returned = [self._returned(side) for side in (then, other)]
        if len(then) == len(other) == 1 and all(r is not None for r in returned) and alike(self.context, *returned):
            return [cst.SimpleStatementLine([cst.Return(call("jnp.where", [test, *returned]))])]
        numbers = [isinstance(self.context.value(r), Static) for r in returned if r is not None]
        function = self.context.name("choose") if any(numbers) and not all(numbers) else "lax.cond"
        made = [self._definition(name, operands, side) for name, side in (("if_true", then), ("if_false", other))]
        value = call(function, [test, cst.Name("if_true"), cst.Name("if_false"), *map(cst.Name, operands)])
        return [_spaced(m) for m in [*made, cst.SimpleStatementLine([cst.Return(value)])]]

    def _returned(self, statements: list[Any]) -> Any:
        last = statements[-1]
        small = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else None
        return small.value if isinstance(small, cst.Return) else None

    def _check(self, statements: list[Any]) -> None:
        """What a side does beside setting names cannot be undone when the other side is taken."""
        block = cst.IndentedBlock(statements)
        own = set(tree.names_assigned(block))
        for node in tree.walk_scope(block):
            if isinstance(node, cst.Raise):
                raise _Refused("a raise under a branch on a tensor's value")
            if isinstance(node, (cst.Break, cst.Continue)) and tree.jumps(block):
                raise _Refused("a break or continue under a branch on a tensor's value")
            if isinstance(node, (cst.Yield, cst.Global, cst.Nonlocal, cst.Await, cst.Del)):
                raise _Refused("a statement under a branch on a tensor's value that has no counterpart in a function")
            if isinstance(node, cst.Assign) and any(isinstance(t.target, cst.Attribute) for t in node.targets):
                raise _Refused("an attribute is set under a branch on a tensor's value")
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _GROWING:
                holder = node.func.value
                if isinstance(holder, cst.Name) and holder.value not in own and not isinstance(self.context.value(holder), (Tensor, Module)):
                    raise _Refused(f"the list or dict {holder.value} changes under a branch on a tensor's value")
            if isinstance(node, (cst.Assign, cst.AnnAssign)) and node.value is not None:
                value = self.context.value(node.value)
                targets = [n for t in (node.targets if isinstance(node, cst.Assign) else []) for n in tree.target_names(t.target)]
                if targets and (value == NONE or isinstance(value, Static) and value.type in ("str", "dtype", "device")) and set(targets) & self._shared:
                    raise _Refused(f"{targets[0]} becomes something that is no array under a branch on a tensor's value")

    @property
    def _shared(self) -> set[str]:
        return self.defined

    def _choice(self, test: Any, then: list[Any], other: list[Any], results: list[str]) -> list[Any] | None:
        """`if c: y = y * 2` is `y = jnp.where(c, y * 2, y)`."""
        if len(results) != 1:
            return None
        sides = []
        for side in (then, other):
            if not side:
                name: Any = cst.Name(results[0])
                self.context.facts.values[id(name)] = self.kinds.get(results[0], Tensor())
                self.context.facts.kept.append(name)
                sides.append(name)
                continue
            line = side[0]
            if len(side) != 1 or not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
                return None
            small = line.body[0]
            if isinstance(small, cst.Assign) and len(small.targets) == 1 and tree.target_names(small.targets[0].target) == results and isinstance(small.targets[0].target, cst.Name):
                sides.append(small.value)
            elif isinstance(small, cst.AugAssign) and isinstance(small.target, cst.Name):
                made = _unaugmented(small)
                if made is None:
                    return None
                sides.append(made)
            else:
                return None
        if not alike(self.context, *sides):
            return None
        return [tree.assignment(results[0], call("jnp.where", [test, *sides]))]

    def _operands(self, then: list[Any], other: list[Any], results: list[str]) -> list[str]:
        """Names that both functions take: what either sets itself and reads before, and the arrays that it reads."""
        local = set(writes(then)) | set(writes(other))
        wanted = [*exposed(then), *exposed(other)]
        for name in results:
            if any(name not in certain(side) for side in (then, other)):
                wanted.append(name)
        out = []
        for name in dict.fromkeys(wanted):
            if name not in self.defined or name in ("params", "self", "key", "keys"):
                continue
            if name in local or is_traced(self.kinds.get(name, NONE)):
                out.append(name)
        return out

    def _unchanged(self, operands: list[str], results: list[str]) -> Any:
        """The side that does nothing."""
        returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
        return tree.expression(f"lambda {', '.join(operands)}: {returned}")

    def _side(self, name: str, operands: list[str], statements: list[Any], results: list[str]) -> Any:
        last = statements[-1] if statements else None
        returned = cst.SimpleStatementLine([cst.Return(_names(results))])
        if isinstance(last, cst.SimpleStatementLine) and len(last.body) == 1 and isinstance(last.body[0], cst.Assign) and len(last.body[0].targets) == 1:
            target = last.body[0].targets[0].target
            if tree.target_names(target) == results and (isinstance(target, cst.Name) or len(results) > 1 and isinstance(target, cst.Tuple)):
                value = last.body[0].value
                returned = tree.replace(last, body=[cst.Return(value)])
                statements = statements[:-1]
        return self._definition(name, operands, [*statements, returned])

    def _definition(self, name: str, operands: list[str], statements: list[Any]) -> Any:
        made = tree.statement(f"def {name}({', '.join(operands)}):\n    pass\n")
        if statements and getattr(statements[0], "leading_lines", None):
            lines = [line for line in statements[0].leading_lines if line.comment is not None]
            statements = [tree.replace(statements[0], leading_lines=lines), *statements[1:]]
        return tree.with_body(made, statements)

    def _differ(self, then: list[Any], other: list[Any], results: list[str]) -> bool:
        """Whether a side may leave a number where the other has an array: their types must be made one."""
        for name in results:
            kinds = {self._set_to(name, then), self._set_to(name, other)}
            if "number" in kinds:
                return True
        return False

    def _set_to(self, name: str, statements: list[Any]) -> str:
        found = "same"
        for statement in statements:
            for node in [statement, *tree.walk_scope(statement)]:
                if isinstance(node, cst.Assign) and any(isinstance(t.target, cst.Name) and t.target.value == name for t in node.targets):
                    value = self.context.value(node.value)
                    found = "number" if isinstance(value, Static) or isinstance(node.value, (cst.Integer, cst.Float)) else "array"
        return found


def _spaced(node: Any) -> Any:
    return tree.replace(node, leading_lines=[cst.EmptyLine(indent=False)])


def _names(names: list[str]) -> Any:
    if len(names) == 1:
        return cst.Name(names[0])
    return tree.expression(", ".join(names))


def _otherwise(node: cst.If) -> list[Any]:
    if node.orelse is None:
        return []
    return [node.orelse] if isinstance(node.orelse, cst.If) else tree.body_statements(node.orelse)


_OPERATORS: dict[type, Any] = {cst.AddAssign: cst.Add, cst.SubtractAssign: cst.Subtract, cst.MultiplyAssign: cst.Multiply}


def _unaugmented(small: cst.AugAssign) -> Any:
    kind = _OPERATORS.get(type(small.operator))
    if kind is None:
        return None
    stand_in = cst.BinaryOperation(cst.Name("a"), kind(), cst.Name("b"))
    return cst.BinaryOperation(small.target, kind(), tree.fit(stand_in, "right", small.value))
