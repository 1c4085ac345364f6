"""From Python's own syntax trees to the model: expressions without a place in a file, and the
statements of rules, whose files say them in eight kinds.
"""

import ast
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..model.expressions import (
    Attribute,
    Call,
    Comprehension,
    Constant,
    Dictionary,
    Display,
    ForClause,
    FormattedString,
    Lambda,
    Name,
    NamedExpression,
    OpaqueExpression,
    Slice,
    Starred,
    Subscript,
)
from ..model.node import Expression, Statement
from ..model.operators import Binary, Boolean, Compare, Conditional, Unary
from ..model.program import Function, Parameter
from ..model.statements import Assign, Block, ExpressionStatement, For, If, Raise, Return


def expression(text: str) -> Expression:
    """The model of an expression: `expression("jnp.where(m, x, 0)")`."""
    return lower_expression(ast.parse(text, mode="eval").body)


def lower_expression(node: ast.expr) -> Expression:
    return _EXPRESSIONS[node.__class__](node)


@functools.cache
def lowered(node: ast.expr) -> Expression:
    """The model of an expression of a rule, made once: to be looked at, and copied where it is put
    into a program.
    """
    return lower_expression(node)


def lower_parameters(node: ast.arguments) -> Iterator[Parameter]:
    """The parameters of a function in the order of the source."""
    plain = [*node.posonlyargs, *node.args]
    defaults: list[ast.expr | None] = [*[None] * (len(plain) - len(node.defaults)), *node.defaults]
    for i, (arg, default) in enumerate(zip(plain, defaults)):
        yield _parameter(arg, "/" if i < len(node.posonlyargs) else "", default)
    if node.vararg is not None:
        yield _parameter(node.vararg, "*", None)
    for arg, default in zip(node.kwonlyargs, node.kw_defaults):
        yield _parameter(arg, "=", default)
    if node.kwarg is not None:
        yield _parameter(node.kwarg, "**", None)


def lower_arguments(
    values: Iterable[ast.expr], keywords: Iterable[ast.keyword]
) -> tuple[list[Expression], list[str | None]]:
    """The arguments of a call, or the bases of a class, and their keywords."""
    arguments, words = _all(values), []
    for keyword in keywords:
        value = lower_expression(keyword.value)
        arguments.append(value if keyword.arg is not None else Starred(value, double=True))
        words.append(keyword.arg)
    return arguments, [*[None] * (len(arguments) - len(words)), *words]


def optional(node: ast.expr | None) -> Expression | None:
    return None if node is None else lower_expression(node)


def _all(nodes: Iterable[ast.expr]) -> list[Expression]:
    return [lower_expression(node) for node in nodes]


def _parameter(arg: ast.arg, kind: str, default: ast.expr | None) -> Parameter:
    return Parameter(arg.arg, kind, optional(arg.annotation), optional(default))


def _call(node: ast.Call) -> Call:
    return Call(lower_expression(node.func), *lower_arguments(node.args, node.keywords))


def _boolean(node: ast.BoolOp) -> Expression:
    """`a and b and c` is `(a and b) and c`, as LibCST has it."""
    operator = "and" if isinstance(node.op, ast.And) else "or"
    parts = _all(node.values)
    return functools.reduce(lambda left, right: Boolean(left, operator, right), parts)


def _compare(node: ast.Compare) -> Compare:
    return Compare(_all([node.left, *node.comparators]), [_COMPARISONS[type(o)] for o in node.ops])


def _conditional(node: ast.IfExp) -> Conditional:
    return Conditional(*_all([node.body, node.test, node.orelse]))


def _dictionary(node: ast.Dict) -> Dictionary:
    return Dictionary(
        part
        for key, value in zip(node.keys, node.values)
        for part in (optional(key), lower_expression(value))
    )


def _comprehension(kind: str) -> Callable[[Any], Comprehension]:
    def lower(node: Any) -> Comprehension:
        key = lower_expression(node.key) if kind == "dict" else None
        element = lower_expression(node.value if kind == "dict" else node.elt)
        return Comprehension(kind, key, element, map(_clause, node.generators))

    return lower


def _clause(node: ast.comprehension) -> ForClause:
    target, iterable = _all([node.target, node.iter])
    return ForClause(target, iterable, _all(node.ifs), bool(node.is_async))


def _display(kind: str) -> Callable[[Any], Display]:
    return lambda node: Display(kind, _all(node.elts))


def _lambda(node: ast.Lambda) -> Lambda:
    return Lambda(lower_parameters(node.args), lower_expression(node.body))


def _named(node: ast.NamedExpr) -> NamedExpression:
    return NamedExpression(Name(node.target.id), lower_expression(node.value))


def _opaque(word: str) -> Callable[[Any], OpaqueExpression]:
    return lambda node: OpaqueExpression(word, _all([node.value] if node.value is not None else []))


def _formatted(node: ast.JoinedStr) -> FormattedString:
    """An f-string; `f"{x:.2f}"` as `f"{format(x, '.2f')}"`, since the model has no formats beside
    their text.
    """
    literals, inside = [""], []
    for part in node.values:
        if isinstance(part, ast.Constant):
            literals[-1] += _inner_text(str(part.value))
        else:
            assert isinstance(part, ast.FormattedValue)
            inside.append(_insertion(part))
            literals.append("")
    return FormattedString(inside, literals)


def _insertion(node: ast.FormattedValue) -> Expression:
    value = lower_expression(node.value)
    if node.conversion >= 0:
        value = Call(Name(_CONVERSIONS[chr(node.conversion)]), [value])
    if isinstance(node.format_spec, ast.JoinedStr):
        parts = node.format_spec.values
        plain = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
        whole = len(plain) == len(parts)
        spec: Expression = Constant("".join(plain)) if whole else _formatted(node.format_spec)
        value = Call(Name("format"), [value, spec])
    return value


def _inner_text(text: str) -> str:
    """What stands between the quotes of an f-string for this text."""
    return "".join(_ESCAPES.get(character, character) for character in text)


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "{": "{{", "}": "}}"}
_CONVERSIONS = {"r": "repr", "s": "str", "a": "ascii"}
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


def binary_operator(node: ast.operator) -> str:
    return _BINARY[type(node)]


_EXPRESSIONS: dict[type, Callable[[Any], Expression]] = {
    ast.Name: lambda node: Name(node.id),
    ast.Constant: lambda node: Constant(node.value),
    ast.Attribute: lambda node: Attribute(lower_expression(node.value), node.attr),
    ast.Subscript: lambda node: Subscript(*_all([node.value, node.slice])),
    ast.Slice: lambda node: Slice(*map(optional, (node.lower, node.upper, node.step))),
    ast.Call: _call,
    ast.Starred: lambda node: Starred(lower_expression(node.value)),
    ast.UnaryOp: lambda node: Unary(_UNARY[type(node.op)], lower_expression(node.operand)),
    ast.BinOp: lambda node: Binary(
        lower_expression(node.left), binary_operator(node.op), lower_expression(node.right)
    ),
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.List: _display("list"),
    ast.Tuple: _display("tuple"),
    ast.Set: _display("set"),
    ast.Dict: _dictionary,
    ast.ListComp: _comprehension("list"),
    ast.SetComp: _comprehension("set"),
    ast.DictComp: _comprehension("dict"),
    ast.GeneratorExp: _comprehension("generator"),
    ast.Lambda: _lambda,
    ast.NamedExpr: _named,
    ast.JoinedStr: _formatted,
    ast.Await: _opaque("await"),
    ast.Yield: _opaque("yield"),
    ast.YieldFrom: _opaque("yield from"),
}

# --- statements -----------------------------------------------------------------------------------


def lower_statements(nodes: Iterable[ast.stmt]) -> list[Statement]:
    return [_STATEMENTS[node.__class__](node) for node in nodes]


def _block(nodes: list[ast.stmt]) -> Block:
    return Block(lower_statements(nodes))


def _orelse(nodes: list[ast.stmt], chained: bool = False) -> Block | None:
    """What stands behind `else:`; one `if` alone is an `elif`."""
    if not nodes:
        return None
    form = "elif" if chained and len(nodes) == 1 and isinstance(nodes[0], ast.If) else "indented"
    return Block(lower_statements(nodes), form)


def _augmented(node: ast.AugAssign) -> Assign:
    value = lower_expression(node.value)
    return Assign([lower_expression(node.target)], value, binary_operator(node.op))


def _for(node: ast.For) -> For:
    target, iterable = _all([node.target, node.iter])
    return For(target, iterable, _block(node.body), _orelse(node.orelse))


_STATEMENTS: dict[type, Callable[[Any], Statement]] = {
    ast.FunctionDef: lambda node: Function(
        node.name, lower_parameters(node.args), _block(node.body), _all(node.decorator_list)
    ),
    ast.Assign: lambda node: Assign(_all(node.targets), lower_expression(node.value)),
    ast.AugAssign: _augmented,
    ast.Expr: lambda node: ExpressionStatement(lower_expression(node.value)),
    ast.Return: lambda node: Return(optional(node.value)),
    ast.Raise: lambda node: Raise(optional(node.exc), optional(node.cause)),
    ast.If: lambda node: If(
        lower_expression(node.test), _block(node.body), _orelse(node.orelse, chained=True)
    ),
    ast.For: _for,
}
