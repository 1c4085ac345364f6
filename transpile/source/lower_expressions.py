"""From LibCST's expressions to the model's."""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import libcst as cst

from ..model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Display,
    ForClause,
    Lambda,
    Name,
    NamedExpression,
    OpaqueExpression,
    Slice,
    Starred,
    Subscript,
)
from ..model.node import Expression
from ..model.operators import Binary, Boolean, Compare, Conditional, Unary
from ..model.program import Parameter
from .lower_strings import StringLowering

_WORDS = {"None": None, "True": True, "False": False}
_TEXTS: dict[type, str] = {
    cst.Not: "not",
    cst.NotIn: "not in",
    cst.IsNot: "is not",
    cst.NotEqual: "!=",
}


def operator_text(node: cst.CSTNode) -> str:
    """How an operator is written, without the space around it."""
    kind = node.__class__
    text = _TEXTS.get(kind)
    if text is None:
        text = _TEXTS[kind] = node._get_token()  # type: ignore[attr-defined]
    return text


class ExpressionLowering(StringLowering):
    """What lowers expressions, with the places of their nodes."""

    def expression(self, node: cst.CSTNode) -> Expression:
        made = _EXPRESSIONS[node.__class__](self, node)
        made.file = self.file
        outer = self.spans.outer[node]
        if node.lpar:  # type: ignore[attr-defined]
            made.enclosed = outer
            made.start, made.end = self.spans.inner[node]
        else:
            made.start, made.end = outer
        if isinstance(made, Starred) and (place := made.expression.place()) is not None:
            made.end = place[1]  # the comma of an element is in its span
        return made

    def _expressions(self, nodes: Iterable[Any]) -> list[Expression]:
        return [self.expression(node) for node in nodes]

    # --- names and literals ----------------------------------------------------------------------

    def name(self, node: cst.Name) -> Expression:
        text = node.value
        return Constant(_WORDS[text], text) if text in _WORDS else Name(text)

    def integer(self, node: cst.Integer) -> Constant:
        return Constant(int(node.value, 0), node.value)

    def number(self, node: cst.Float | cst.Imaginary) -> Constant:
        return Constant(ast.literal_eval(node.value), node.value)

    # --- access ----------------------------------------------------------------------------------

    def attribute(self, node: cst.Attribute) -> Attribute:
        return Attribute(self.expression(node.value), node.attr.value)

    def subscript(self, node: cst.Subscript) -> Subscript:
        return Subscript(self.expression(node.value), self._index(node))

    def _index(self, node: cst.Subscript) -> Expression:
        elements = [self._index_part(element.slice) for element in node.slice]
        last = elements[-1]
        comma = node.slice[-1].comma is not cst.MaybeSentinel.DEFAULT
        if len(elements) == 1 and not comma:
            return last
        made = Display("tuple", elements)
        made.file = self.file
        made.start, end = (elements[0].enclosed or (elements[0].start, 0))[0], last.enclosed
        made.end = last.end if end is None else end[1]
        if comma:
            made.end = self.file.text.index(",", made.end) + 1
        return made

    def _index_part(self, node: Any) -> Expression:
        made: Expression
        if isinstance(node, cst.Index):
            if not getattr(node, "star", None):
                return self.expression(node.value)
            made = Starred(self.expression(node.value))
        else:
            bounds = [
                None if b is None else self.expression(b)
                for b in (node.lower, node.upper, node.step)
            ]
            made = Slice(*bounds)
        made.file = self.file
        made.start, made.end = self.spans.of(node)
        return made

    def call(self, node: cst.Call) -> Call:
        arguments = [self.argument(a) for a in node.args]
        keywords = [None if a.keyword is None else a.keyword.value for a in node.args]
        return Call(self.expression(node.func), arguments, keywords)

    def argument(self, node: cst.Arg) -> Expression:
        made = self.expression(node.value)
        if not node.star:
            return made
        starred = Starred(made, node.star == "**")
        starred.file, starred.start = self.file, self.spans.of(node)[0]
        starred.end = made.end if made.enclosed is None else made.enclosed[1]
        return starred

    # --- operators -------------------------------------------------------------------------------

    def unary(self, node: cst.UnaryOperation) -> Unary:
        return Unary(operator_text(node.operator), self.expression(node.expression))

    def binary(self, node: cst.BinaryOperation) -> Binary:
        left, right = self.expression(node.left), self.expression(node.right)
        return Binary(left, operator_text(node.operator), right)

    def boolean(self, node: cst.BooleanOperation) -> Boolean:
        left, right = self.expression(node.left), self.expression(node.right)
        return Boolean(left, operator_text(node.operator), right)

    def compare(self, node: cst.Comparison) -> Compare:
        operands = [node.left, *(c.comparator for c in node.comparisons)]
        operators = [operator_text(c.operator) for c in node.comparisons]
        return Compare(self._expressions(operands), operators)

    def conditional(self, node: cst.IfExp) -> Conditional:
        body, test = self.expression(node.body), self.expression(node.test)
        return Conditional(body, test, self.expression(node.orelse))

    # --- displays and comprehensions -------------------------------------------------------------

    def display(self, node: cst.List | cst.Tuple | cst.Set) -> Display:
        elements = [self._element(element) for element in node.elements]
        return Display(_DISPLAYS[node.__class__], elements)

    def _element(self, node: Any) -> Expression:
        return self.expression(node if isinstance(node, cst.StarredElement) else node.value)

    def starred(self, node: cst.StarredElement) -> Starred:
        return Starred(self.expression(node.value))

    def dictionary(self, node: cst.Dict) -> Dictionary:
        entries: list[Expression | None] = []
        for element in node.elements:
            key = element.key if isinstance(element, cst.DictElement) else None
            entries += [
                None if key is None else self.expression(key),
                self.expression(element.value),
            ]
        return Dictionary(entries)

    def comprehension(self, node: Any) -> Comprehension:
        key = self.expression(node.key) if isinstance(node, cst.DictComp) else None
        element = self.expression(node.value if key is not None else node.elt)
        return Comprehension(_DISPLAYS[node.__class__], key, element, self._clauses(node.for_in))

    def _clauses(self, node: cst.CompFor | None) -> Iterator[ForClause]:
        while node is not None:
            target, iterable = self.expression(node.target), self.expression(node.iter)
            conditions = [self.expression(c.test) for c in node.ifs]
            made = ForClause(target, iterable, conditions, node.asynchronous is not None)
            made.file = self.file
            last = conditions[-1] if conditions else iterable
            made.start = self.spans.outer[node][0]
            made.end = last.end if last.enclosed is None else last.enclosed[1]
            yield made
            node = node.inner_for_in

    # --- others ----------------------------------------------------------------------------------

    def lambda_(self, node: cst.Lambda) -> Lambda:
        return Lambda(self.parameters(node.params), self.expression(node.body))

    def named(self, node: cst.NamedExpr) -> NamedExpression:
        target = self.expression(node.target)
        assert isinstance(target, Name)
        return NamedExpression(target, self.expression(node.value))

    def yield_(self, node: cst.Yield) -> OpaqueExpression:
        if node.value is None:
            return OpaqueExpression("yield", [])
        if isinstance(node.value, cst.From):
            return OpaqueExpression("yield from", [self.expression(node.value.item)])
        return OpaqueExpression("yield", [self.expression(node.value)])

    def await_(self, node: cst.Await) -> OpaqueExpression:
        return OpaqueExpression("await", [self.expression(node.expression)])

    def parameters(self, node: cst.Parameters) -> Iterator[Parameter]:
        """The parameters of a function in the order of the source."""
        yield from (self._parameter(p, "/") for p in node.posonly_params)
        yield from (self._parameter(p, "") for p in node.params)
        if isinstance(node.star_arg, cst.Param):
            yield self._parameter(node.star_arg, "*")
        yield from (self._parameter(p, "=") for p in node.kwonly_params)
        if node.star_kwarg is not None:
            yield self._parameter(node.star_kwarg, "**")

    def _parameter(self, node: cst.Param, kind: str) -> Parameter:
        annotation = (
            None if node.annotation is None else self.expression(node.annotation.annotation)
        )
        default = None if node.default is None else self.expression(node.default)
        made = Parameter(node.name.value, kind, annotation, default)
        made.file, made.start = self.file, self.spans.outer[node][0]
        last = default or annotation
        if last is None:
            made.end = self.spans.of(node.name)[1]
        else:
            made.end = last.end if last.enclosed is None else last.enclosed[1]
        return made


_DISPLAYS: dict[type, str] = {
    cst.List: "list",
    cst.Tuple: "tuple",
    cst.Set: "set",
    cst.ListComp: "list",
    cst.SetComp: "set",
    cst.DictComp: "dict",
    cst.GeneratorExp: "generator",
}

_EXPRESSIONS: dict[type, Callable[[Any, Any], Expression]] = {
    cst.Name: ExpressionLowering.name,
    cst.Integer: ExpressionLowering.integer,
    cst.Float: ExpressionLowering.number,
    cst.Imaginary: ExpressionLowering.number,
    cst.SimpleString: ExpressionLowering.string,
    cst.ConcatenatedString: ExpressionLowering.strings,
    cst.FormattedString: ExpressionLowering.formatted,
    cst.Ellipsis: lambda self, node: Constant(..., "..."),
    cst.Attribute: ExpressionLowering.attribute,
    cst.Subscript: ExpressionLowering.subscript,
    cst.Call: ExpressionLowering.call,
    cst.UnaryOperation: ExpressionLowering.unary,
    cst.BinaryOperation: ExpressionLowering.binary,
    cst.BooleanOperation: ExpressionLowering.boolean,
    cst.Comparison: ExpressionLowering.compare,
    cst.IfExp: ExpressionLowering.conditional,
    cst.List: ExpressionLowering.display,
    cst.Tuple: ExpressionLowering.display,
    cst.Set: ExpressionLowering.display,
    cst.StarredElement: ExpressionLowering.starred,
    cst.Dict: ExpressionLowering.dictionary,
    cst.ListComp: ExpressionLowering.comprehension,
    cst.SetComp: ExpressionLowering.comprehension,
    cst.DictComp: ExpressionLowering.comprehension,
    cst.GeneratorExp: ExpressionLowering.comprehension,
    cst.Lambda: ExpressionLowering.lambda_,
    cst.NamedExpr: ExpressionLowering.named,
    cst.Yield: ExpressionLowering.yield_,
    cst.Await: ExpressionLowering.await_,
}
if hasattr(cst, "TemplatedString"):  # t-strings, of Python 3.14
    _EXPRESSIONS[cst.TemplatedString] = ExpressionLowering.formatted
