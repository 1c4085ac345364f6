"""Truth of traced values: `and`, `or`, `not`, comparison chains, ternaries, `bool()`, `int()`, `float()`, `assert`, `print`.

Under jit the truth of an array is not known, so that Python's own operators on it fail. `x > 0 and y > 0` becomes
`(x > 0) & (y > 0)`; a ternary becomes `jnp.where` where both sides are plain arithmetic on one array, else `lax.cond`.
A static left side stays Python's: `self.training and x.sum() > 0` gives False or the traced right side.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from .. import tree
from ..apply import simple
from ..context import Context
from ..emit import bare, call, keyword
from ..printing import debug_print, shown
from ..truth import alike, compared, is_boolean, negated
from ..values import CHECKS, MISSING, UNKNOWN, External, Mapping, Sequence, Static, Tensor, Value, is_traced


def run(context: Context, node: cst.FunctionDef) -> cst.FunctionDef:
    """Make the truth of traced values explicit in one function."""
    conditions = _Conditions(context)
    return tree.rewrite(node, conditions.before, conditions.after, only=_Conditions.KINDS)  # type: ignore[no-any-return]


class _Conditions:
    KINDS = frozenset({cst.SimpleStatementLine, cst.If, cst.While, cst.IfExp, cst.UnaryOperation, cst.BooleanOperation, cst.Comparison, cst.Call, cst.Subscript})

    def __init__(self, context: Context) -> None:
        self.context = context
        self.asked: set[int] = set()  # expressions of which only the truth counts

    def value(self, node: Any) -> Value:
        return self.context.value(node)

    def before(self, node: cst.CSTNode) -> Any:
        self._ask(node)
        if node.__class__ is cst.SimpleStatementLine and any(self._checks(s) for s in node.body):
            kept = []
            for small in node.body:
                if self._checks(small):
                    self.context.report("data-check", small.test, "an assert about a tensor's value cannot run under jit: it was left out")  # type: ignore[attr-defined]
                else:
                    kept.append(small)
            return tree.replace(node, body=kept) if kept else cst.RemoveFromParent()
        return None

    def _ask(self, node: Any) -> None:
        parts: list[Any] = []
        kind = node.__class__
        if kind in (cst.If, cst.While, cst.IfExp):
            parts = [node.test]
        elif kind is cst.UnaryOperation and isinstance(node.operator, cst.Not):
            parts = [node.expression]
        elif kind is cst.BooleanOperation and self._original(node) in self.asked:
            parts = [node.left, node.right]
        elif kind is cst.Call and node.func.__class__ is cst.Name and node.func.value == "bool":
            parts = [a.value for a in node.args]
        self.asked.update(map(self._original, parts))

    def _original(self, node: cst.CSTNode) -> int:
        return id(self.context.facts.origin.get(id(node), node))

    def _checks(self, small: Any) -> bool:
        return small.__class__ is cst.Assert and is_traced(self.value(small.test))

    def after(self, node: Any) -> Any:
        new = node
        kind = node.__class__
        if kind is cst.Call:
            new = self._call(node)
        elif kind is cst.UnaryOperation and isinstance(node.operator, cst.Not):
            new = self._not(node)
        elif kind is cst.BooleanOperation:
            new = self._boolean(node)
        elif kind is cst.Comparison and len(node.comparisons) > 1:
            new = self._chain(node)
        elif kind is cst.Comparison:
            new = self._member(node)
        elif kind is cst.Subscript:
            new = self._picked(node)
        elif kind is cst.IfExp and is_traced(self.value(node.test)):
            new = self._ternary(node)
        if new is not node:
            self.context.facts.carry(node, new)
        return new

    # ------------------------------------------------------------------ truth

    def _truth(self, node: Any) -> Any:
        """An expression whose value is boolean."""
        value = self.value(node)
        if isinstance(value, Tensor) and value.kind != "b" and not is_boolean(node):
            new = compared(node, cst.NotEqual())
            self.context.facts.tell(new, Tensor(kind="b"))
            return new
        return node

    def _not(self, node: cst.UnaryOperation) -> Any:
        inner: Any = node.expression
        if not is_traced(self.value(inner)):
            return node
        return negated(self.context, inner)

    def _boolean(self, node: cst.BooleanOperation) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.operator, cst.And) and isinstance(right, Static) and self._is_guarded(node.left):
            return self._guards_first(node)
        if not is_traced(left):
            return node
        if not (isinstance(right, Tensor) or isinstance(right, Static) and right.type == "bool" or is_boolean(node.right)):
            return node
        if self._original(node) not in self.asked and not all(isinstance(v, Tensor) and v.kind == "b" or is_boolean(n) for v, n in ((left, node.left), (right, node.right))):
            return self._operand(node)
        if isinstance(node.operator, cst.And) and all(isinstance(v, Tensor) and v.python for v in (left, right)):
            new: Any = call(self.context.name("both"), [node.left, node.right])
            self.context.facts.tell(new, Tensor(kind="b", python=True))
            return new
        operator = cst.BitAnd() if isinstance(node.operator, cst.And) else cst.BitOr()
        stand_in = cst.BinaryOperation(cst.Name("a"), operator, cst.Name("b"))
        made = [tree.fit(stand_in, f, bare(self._truth(n))) for f, n in (("left", node.left), ("right", node.right))]
        new = cst.BinaryOperation(made[0], operator, made[1], lpar=node.lpar, rpar=node.rpar)
        self.context.facts.tell(new, Tensor(kind="b"))
        return new

    def _is_guarded(self, node: Any) -> bool:
        """`weight is not None and (weight > 0).any()`: what Python knows asks first."""
        return isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.And) and not is_traced(self.value(node.left)) and is_traced(self.value(node.right))

    def _guards_first(self, node: Any) -> Any:
        """`a and t and b`, of which data decides t alone, as `a and b and t`: the others still choose a way in Python."""
        first = tree.replace(node.left, right=node.right)
        self.context.facts.tell(first, Static(MISSING, "bool"))
        return tree.replace(node, left=first, right=node.left.right)

    def _operand(self, node: cst.BooleanOperation) -> Any:
        """`a or b` as a value is one of its operands."""
        if not alike(self.context, node.left, node.left):
            return self.context.unconverted("traced-branch", node, "`and` or `or` of tensors, used as a value")
        sides = [node.left, node.right] if isinstance(node.operator, cst.Or) else [node.right, node.left]
        return call("jnp.where", [self._truth(node.left), *sides])

    def _chain(self, node: cst.Comparison) -> Any:
        sides = [node.left, *(t.comparator for t in node.comparisons)]
        if not any(is_traced(self.value(s)) for s in sides) or any(isinstance(t.operator, (cst.In, cst.NotIn, cst.Is, cst.IsNot)) for t in node.comparisons):
            return node
        if not all(isinstance(s, (cst.Name, cst.Attribute, cst.Integer, cst.Float)) for s in sides[1:-1]):
            return self.context.unconverted("traced-branch", node, "a chain of comparisons on tensors whose middle would be computed twice")
        parts = [tree.parenthesised(cst.Comparison(left, [target])) for left, target in zip(sides, node.comparisons)]
        new: Any = parts[0]
        for part in parts[1:]:
            new = cst.BinaryOperation(new, cst.BitAnd(), part)
        return tree.replace(new, lpar=node.lpar, rpar=node.rpar)

    def _member(self, node: cst.Comparison) -> Any:
        """`k in (0, 2)` is `(k == 0) | (k == 2)`."""
        target = node.comparisons[0]
        display: Any = target.comparator
        if not isinstance(target.operator, (cst.In, cst.NotIn)) or not is_traced(self.value(node.left)) or not simple(node.left):
            return node
        if isinstance(self.value(display), Mapping):
            self.context.report("traced-branch", node, "a dict is asked for a key that data tell: it is left to Python, and cannot be under jax.jit")
            return node
        if not isinstance(display, (cst.Tuple, cst.List)) or not display.elements or not all(simple(e.value) for e in display.elements):
            return node
        new: Any = None
        for element in display.elements:
            part = tree.parenthesised(cst.Comparison(node.left, [cst.ComparisonTarget(cst.Equal(), element.value)]))
            new = part if new is None else cst.BinaryOperation(new, cst.BitOr(), part)
        if isinstance(target.operator, cst.NotIn):
            new = cst.UnaryOperation(cst.BitInvert(), tree.parenthesised(new))
        return tree.parenthesised(new) if node.lpar and not new.lpar else new

    # ------------------------------------------------------------------ choices

    def _ternary(self, node: cst.IfExp) -> Any:
        if _side_effect(node.body) or _side_effect(node.orelse):
            return node
        if any(_no_array(self.value(n)) for n in (node.body, node.orelse)):
            return self.context.unconverted("traced-branch", node, "a choice by a tensor's value between things that are no arrays")
        test = bare(node.test)
        if alike(self.context, node.body, node.orelse):
            return call("jnp.where", [test, node.body, node.orelse])
        sides = [tree.replace(tree.expression("lambda: 0"), body=tree.fit(tree.expression("lambda: 0"), "body", n)) for n in (node.body, node.orelse)]
        numbers = sum(isinstance(self.value(n), Static) for n in (node.body, node.orelse))
        return call("lax.cond" if numbers != 1 else self.context.name("choose"), [test, *sides])

    def _chosen_by(self, node: Any) -> Any:
        """The index, where a list of Python's is asked by data which of its elements is meant."""
        if not isinstance(node, cst.Subscript) or not isinstance(self.value(node.value), Sequence) or len(node.slice) != 1:
            return None
        part: Any = node.slice[0].slice
        return part.value if isinstance(part, cst.Index) and is_traced(self.value(part.value)) else None

    def _picked(self, node: cst.Subscript) -> Any:
        """`parts[i]` is `jnp.stack(parts)[i]`."""
        known = self.value(node.value)
        if self._chosen_by(node) is None or not isinstance(known, Sequence) or not isinstance(known.element, Tensor):
            return node
        return tree.replace(node, value=call("jnp.stack", [node.value]))

    def _switch(self, node: cst.Call, index: Any) -> Any:
        """`functions[i](x)` is `lax.switch(i, functions, x)`; a negative index counts from the end."""
        functions: Any = node.func.value  # type: ignore[attr-defined]
        if any(a.star or a.keyword is not None for a in node.args) or isinstance(functions, cst.Call):
            return self.context.unconverted("traced-branch", node, "a call of what a tensor's value picks from a list")
        known = self.value(functions)
        count = cst.Integer(str(len(known.items))) if isinstance(known, Sequence) and known.items else call("len", [functions])
        wrapped = cst.BinaryOperation(cst.Name("i"), cst.Modulo(), count)
        return call("lax.switch", [tree.replace(wrapped, left=tree.fit(wrapped, "left", index)), functions, *(a.value for a in node.args)])

    # ------------------------------------------------------------------ builtins

    def _call(self, node: cst.Call) -> Any:
        function = self.value(node.func)
        index = self._chosen_by(node.func)
        if index is not None:
            return self._switch(node, index)
        if isinstance(function, External) and function.name in CHECKS and is_traced(self.value(node)):
            return _checked(node, function.name.removeprefix("math."))
        if not isinstance(function, External) or not function.name.startswith("builtins.") or not isinstance(node.func, cst.Name):
            return node
        name, args = node.func.value, node.args
        if any(a.star or a.keyword is not None for a in args) or not args:
            return node
        first: Any = args[0].value
        traced = [is_traced(self.value(a.value)) for a in args]
        if (
            len(args) == 1
            and traced[0]
            and name in ("bool", "int", "float")
            and not isinstance(self.value(node), Static)
        ):
            return self._cast(name, first)
        if name in ("min", "max") and len(args) == 2 and any(traced):
            return self._extremum(name, first, args[1].value)
        if name in ("min", "max") and len(args) > 2 and any(traced):
            return call(self.context.name(f"python_{name}"), [a.value for a in args])
        if name in ("any", "all", "min", "max") and len(args) == 1:
            return self._reduced(node, name, first)
        if name == "print" and any(any(is_traced(self.value(n)) for n in shown(a.value)) for a in args):
            return debug_print(node)
        return node

    def _reduced(self, node: cst.Call, name: str, of: Any) -> Any:
        """`any(x)`, `max(losses)` of an array, or of a list of arrays without dimensions."""
        known = self.value(of)
        if isinstance(of, cst.GeneratorExp):
            of = tree.replace(tree.expression("[x for x in y]"), elt=of.elt, for_in=of.for_in)
        if isinstance(of, cst.ListComp):
            whole = is_traced(self.value(of.elt))
        elif isinstance(of, (cst.List, cst.Tuple)):
            whole = any(is_traced(self.value(e.value)) for e in of.elements)
        else:
            whole = isinstance(known, Sequence) and is_traced(known.element)
        if not whole and not is_traced(known):
            return node
        if whole and name in ("min", "max"):  # Python compares them in turn: of equal ones it keeps the first
            listed = isinstance(of, (cst.List, cst.Tuple)) and not any(isinstance(e, cst.StarredElement) for e in of.elements)
            args = [cst.Arg(e.value) for e in of.elements] if listed else [cst.Arg(of, star="*")]
            return cst.Call(tree.expression(self.context.name(f"python_{name}")), args)
        array = call("jnp.array", [of]) if whole else of
        return cst.Call(cst.Attribute(tree.fit(cst.Attribute(cst.Name("x"), cst.Name("y")), "value", array), cst.Name(name)))

    def _extremum(self, name: str, a: Any, b: Any) -> Any:
        """Python keeps the first of two that do not compare: `min(1.0, nan)` is 1.0."""
        if not (simple(a) and simple(b)):
            return call(self.context.name("python_min" if name == "min" else "python_max"), [a, b])
        operator = cst.LessThan() if name == "min" else cst.GreaterThan()
        return call("jnp.where", [cst.Comparison(b, [cst.ComparisonTarget(operator, a)]), b, a])

    def _cast(self, name: str, value: Any) -> Any:
        """Python's numbers carry no gradient: `float(loss)`."""
        known = self.value(value)
        if name == "bool":
            return bare(self._truth(_scalar(value)))
        value = _scalar(value)
        if name == "float" and isinstance(known, Tensor) and known.kind not in ("i", "b", "u"):
            value = call("lax.stop_gradient", [value])
        if isinstance(known, Tensor) and known.kind == name[0]:
            return value
        func = cst.Attribute(tree.fit(cst.Attribute(cst.Name("x"), cst.Name("y")), "value", value), cst.Name("astype"))
        return cst.Call(func, [cst.Arg(cst.Name(name))])


def _checked(node: cst.Call, name: str) -> cst.Call:
    """`math.isnan(loss)`, and `math.isclose(a, b)` with the tolerance that it has."""
    tolerance = [keyword("rtol", cst.Float("1e-9")), keyword("atol", cst.Integer("0"))] if name == "isclose" else []
    if len(node.args) != (2 if tolerance else 1):
        return node
    return tree.replace(node, func=tree.expression(f"jnp.{name}"), args=[tree.replace(a, comma=cst.MaybeSentinel.DEFAULT) for a in node.args] + tolerance)


_REDUCTIONS = frozenset("sum mean max min prod any all argmax argmin".split())


def _scalar(node: Any) -> Any:
    """An array of one element without dimensions: `x.sum()` has none."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        if node.func.attr.value in _REDUCTIONS and not node.args or node.func.attr.value == "reshape" and tree.code(node.args[0].value) == "()":
            return node
    if isinstance(node, cst.BinaryOperation) or isinstance(node, cst.Name):
        return node
    func = cst.Attribute(tree.fit(cst.Attribute(cst.Name("x"), cst.Name("y")), "value", node), cst.Name("reshape"))
    return cst.Call(func, [cst.Arg(tree.expression("()"))])


def _no_array(value: Value) -> bool:
    if isinstance(value, Static):
        return value.type in ("str", "None", "dtype", "device")
    return value != UNKNOWN and not isinstance(value, Tensor)


def _side_effect(node: cst.CSTNode) -> bool:
    return any(isinstance(n, (cst.NamedExpr, cst.Yield, cst.Await)) for n in tree.walk(node))
