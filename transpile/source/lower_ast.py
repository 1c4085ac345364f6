"""From Python's own syntax trees to the model: expressions, with their places where they stand in a
file.
"""

import ast
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..model.expressions import (
    Attribute,
    Call,
    Comprehension,
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


def expression(text: str) -> Expression:
    """The model of an expression: `expression("jnp.where(m, x, 0)")`."""
    return lower_expression(ast.parse(text, mode="eval").body)


def lower_expression(node: ast.expr) -> Expression:
    """The model of an expression that stands nowhere."""
    return _MADE.expression(node)


@functools.cache
def lowered(node: ast.expr) -> Expression:
    """The model of an expression of a rule, made once: to be looked at, and copied where it is put
    into a program.
    """
    return lower_expression(node)


class ExpressionLowering(StringLowering):
    """What lowers expressions."""

    def expression(self, node: ast.expr, behind_bracket: bool = False) -> Expression:
        """The model of an expression; `behind_bracket`: it is the first argument of a call."""
        made = _EXPRESSIONS[node.__class__](self, node)
        if self.places is not None:
            start, end = self.place(node)
            made.file, made.start, made.end = self.places.file, start, end
            if node.__class__ is ast.GeneratorExp or node.__class__ is ast.Tuple:
                self._bracketed(made, behind_bracket)
            elif node.__class__ is not ast.Slice:
                self.places.enclose(made, behind_bracket)
        return made

    def optional(self, node: ast.expr | None) -> Expression | None:
        return None if node is None else self.expression(node)

    def all(self, nodes: Iterable[ast.expr]) -> list[Expression]:
        return [self.expression(node) for node in nodes]

    def put(self, made: Any, start: int, end: int) -> None:
        """Say where a part stands for which Python's tree has no node."""
        if self.places is not None:
            made.file, made.start, made.end = self.places.file, start, end

    def _bracketed(self, made: Expression, behind_bracket: bool) -> None:
        """Tuples and generators, with whose places Python's tree counts their parentheses."""
        assert self.places is not None
        (start, end), inside = (made.start, made.end), made.children()
        first = outer_start(inside[0]) if inside else start + 1
        generator = isinstance(made, Comprehension)
        own = first > start and not (generator and behind_bracket and not self.places.opens(start))
        if own or not generator:
            self.places.enclose(made, behind_bracket)
        if own:
            made.enclosed = made.enclosed or (start, end)
        if own or generator:
            made.start, made.end = first, outer_end(inside[-1]) if inside else end - 1
            comma = self.places.skip(made.end)
            if not generator and inside and self.places.text[comma] == ",":
                made.end = comma + 1

    # --- calls and parameters --------------------------------------------------------------------

    def parameters(self, node: ast.arguments) -> Iterator[Parameter]:
        """The parameters of a function in the order of the source."""
        plain = [*node.posonlyargs, *node.args]
        defaults: list[Any] = [*[None] * (len(plain) - len(node.defaults)), *node.defaults]
        for i, (arg, default) in enumerate(zip(plain, defaults)):
            yield self._parameter(arg, "/" if i < len(node.posonlyargs) else "", default)
        if node.vararg is not None:
            yield self._parameter(node.vararg, "*", None)
        for arg, default in zip(node.kwonlyargs, node.kw_defaults):
            yield self._parameter(arg, "=", default)
        if node.kwarg is not None:
            yield self._parameter(node.kwarg, "**", None)

    def _parameter(self, arg: ast.arg, kind: str, default: ast.expr | None) -> Parameter:
        made = Parameter(arg.arg, kind, self.optional(arg.annotation), self.optional(default))
        if self.places is not None:
            start, end = self.place(arg)
            start = self.places.text.rindex(kind, 0, start) if kind in ("*", "**") else start
            last = made.default or made.annotation
            self.put(made, start, end if last is None else outer_end(last))
        return made

    def arguments(
        self, values: list[ast.expr], keywords: list[ast.keyword]
    ) -> tuple[list[Expression], list[str | None]]:
        """The arguments of a call, or the bases of a class, and their keywords, in the order of the
        source."""
        made: list[tuple[Expression, str | None]] = []
        for i, value in enumerate(values):
            made.append((self.expression(value, behind_bracket=i == 0), None))
        for keyword in keywords:
            given = self.expression(keyword.value)
            if keyword.arg is None:
                end, given = outer_end(given), Starred(given, double=True)
                self.put(given, self.place(keyword)[0] if self.places else 0, end)
            made.append((given, keyword.arg))
        if self.places is not None and keywords:  # `f(k=1, *a)`
            made.sort(key=lambda pair: pair[0].start)
        return [value for value, _ in made], [word for _, word in made]

    def call(self, node: ast.Call) -> Call:
        return Call(self.expression(node.func), *self.arguments(node.args, node.keywords))

    def lambda_(self, node: ast.Lambda) -> Lambda:
        return Lambda(self.parameters(node.args), self.expression(node.body))

    # --- operators -------------------------------------------------------------------------------

    def boolean(self, node: ast.BoolOp) -> Expression:
        """`a and b and c` is `(a and b) and c`."""
        operator = "and" if isinstance(node.op, ast.And) else "or"
        first, *others = self.all(node.values)
        for other in others:
            start = outer_start(first)
            first = Boolean(first, operator, other)
            self.put(first, start, outer_end(other))
        return first

    def compare(self, node: ast.Compare) -> Compare:
        operands = self.all([node.left, *node.comparators])
        return Compare(operands, [_COMPARISONS[type(o)] for o in node.ops])

    def unary(self, node: ast.UnaryOp) -> Unary:
        return Unary(_UNARY[type(node.op)], self.expression(node.operand))

    def binary(self, node: ast.BinOp) -> Binary:
        left, right = self.expression(node.left), self.expression(node.right)  # a chain is deep
        return Binary(left, binary_operator(node.op), right)

    # --- displays and comprehensions -------------------------------------------------------------

    def dictionary(self, node: ast.Dict) -> Dictionary:
        pairs = zip(node.keys, node.values)
        return Dictionary(p for k, v in pairs for p in (self.optional(k), self.expression(v)))

    def comprehension(self, node: Any) -> Comprehension:
        kind = _KINDS[node.__class__]
        key = self.expression(node.key) if kind == "dict" else None
        element = self.expression(node.value if kind == "dict" else node.elt)
        clauses, end = list[ForClause](), outer_end(element)
        for clause in node.generators:
            target, iterable = self.all([clause.target, clause.iter])
            made = ForClause(target, iterable, self.all(clause.ifs), bool(clause.is_async))
            self.put(made, end, end := outer_end(made.children()[-1]))
            clauses.append(made)
        return Comprehension(kind, key, element, clauses)

    def display(self, node: Any) -> Display:
        return Display(_KINDS[node.__class__], self.all(node.elts))

    def opaque(self, node: Any) -> OpaqueExpression:
        inside = [node.value] if node.value is not None else []
        return OpaqueExpression(_WORDS[node.__class__], self.all(inside))


def outer_start(node: Any) -> int:
    """Where a node begins, with its parentheses."""
    return int(node.start if node.enclosed is None else node.enclosed[0])


def outer_end(node: Any) -> int:
    """Where a node ends, with its parentheses."""
    return int(node.end if node.enclosed is None else node.enclosed[1])


_UNARY: dict[type, str] = {ast.Not: "not", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}
_BINARY: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.MatMult: "@",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_COMPARISONS: dict[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


_KINDS: dict[type, str] = {
    ast.List: "list",
    ast.Tuple: "tuple",
    ast.Set: "set",
    ast.ListComp: "list",
    ast.SetComp: "set",
    ast.DictComp: "dict",
    ast.GeneratorExp: "generator",
}
_WORDS: dict[type, str] = {ast.Await: "await", ast.Yield: "yield", ast.YieldFrom: "yield from"}


def binary_operator(node: ast.operator) -> str:
    return _BINARY[type(node)]


_EXPRESSIONS: dict[type, Callable[[ExpressionLowering, Any], Expression]] = {
    ast.Name: lambda self, node: Name(node.id),
    ast.Constant: ExpressionLowering.constant,
    ast.Attribute: lambda self, node: Attribute(self.expression(node.value), node.attr),
    ast.Subscript: lambda self, node: Subscript(*self.all([node.value, node.slice])),
    ast.Slice: lambda self, node: Slice(*map(self.optional, (node.lower, node.upper, node.step))),
    ast.Call: ExpressionLowering.call,
    ast.Starred: lambda self, node: Starred(self.expression(node.value)),
    ast.UnaryOp: ExpressionLowering.unary,
    ast.BinOp: ExpressionLowering.binary,
    ast.BoolOp: ExpressionLowering.boolean,
    ast.Compare: ExpressionLowering.compare,
    ast.IfExp: lambda self, node: Conditional(*self.all([node.body, node.test, node.orelse])),
    ast.Dict: ExpressionLowering.dictionary,
    **dict.fromkeys([ast.List, ast.Tuple, ast.Set], ExpressionLowering.display),
    **dict.fromkeys(
        [ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp],
        ExpressionLowering.comprehension,
    ),
    ast.Lambda: ExpressionLowering.lambda_,
    ast.NamedExpr: lambda self, node: NamedExpression(
        self.expression(node.target),  # type: ignore[arg-type]
        self.expression(node.value),
    ),
    ast.JoinedStr: ExpressionLowering.formatted,
    **dict.fromkeys(_WORDS, ExpressionLowering.opaque),
}
if hasattr(ast, "TemplateStr"):  # of Python 3.14
    _EXPRESSIONS[ast.TemplateStr] = ExpressionLowering.formatted
_MADE = ExpressionLowering()
