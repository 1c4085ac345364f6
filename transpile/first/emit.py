"""Nodes of the output that passes make by the same few lines: names, tuples, calls, keywords, small functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from . import tree


def fresh_name(used: set[str], stem: str) -> str:
    """A name that is not in use: the stem, or the stem and a number. It is in use from then on."""
    name, n = stem, 1
    while name in used:
        n += 1
        name = f"{stem}_{n}"
    used.add(name)
    return name


def display(parts: Sequence[Any]) -> cst.Tuple:
    """`a, b` without parentheses."""
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return cst.Tuple([cst.Element(p, comma=comma) if i + 1 < len(parts) else cst.Element(p) for i, p in enumerate(parts)], lpar=[], rpar=[])


def names(found: Sequence[str]) -> Any:
    """One name, or several as a tuple without parentheses."""
    return cst.Name(found[0]) if len(found) == 1 else display([cst.Name(n) for n in found])


def bare(node: Any) -> Any:
    """An expression without parentheses that it does not need where commas or statements end it; over several lines it keeps them."""
    made = unbracketed(node)
    return node if made is not node and "\n" in tree.code(node) else made


def unbracketed(node: Any) -> Any:
    """An expression without parentheses that it does not need as an argument, and that hold no comment: `(a + b).rsqrt()` is `lax.rsqrt(a + b)`."""
    if not getattr(node, "lpar", None) or isinstance(node, (cst.Tuple, cst.GeneratorExp, cst.NamedExpr, cst.Yield, cst.Await)):
        return node
    commented = any("#" in tree.code(paren) for paren in (*node.lpar, *node.rpar))
    return node if commented else tree.replace(node, lpar=[], rpar=[])


def enclosed(node: Any) -> Any:
    """An expression as an argument or element: a bare tuple or generator gets parentheses."""
    return tree.parenthesised(node) if isinstance(node, (cst.Tuple, cst.GeneratorExp)) and not node.lpar else node


def call(function: str, args: Sequence[Any]) -> cst.Call:
    """`function(*args)`."""
    return cst.Call(tree.expression(function), [cst.Arg(enclosed(a)) for a in args])


def walk(support: Callable[[str], str], holder: Any, method: str) -> Any:
    """What `m.modules()`, `m.children()` and their named forms are in the output; `support` names a function of jax_nn."""
    if method in ("modules", "named_modules"):
        return call(support(method), [holder])
    children = f"{tree.code(holder)}.children()"
    return tree.expression(children if method == "named_children" else f"[child for _, child in {children}]")


def keyword(name: str, value: Any) -> cst.Arg:
    """`name=value` as an argument."""
    return cst.Arg(value, keyword=cst.Name(name), equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")))


def function(name: str, parameters: Sequence[str], statements: Sequence[Any]) -> Any:
    """`def name(parameters):`; blank lines before its first statement go, comments stay."""
    if statements and getattr(statements[0], "leading_lines", None):
        lines = [line for line in statements[0].leading_lines if line.comment is not None]
        statements = [tree.replace(statements[0], leading_lines=lines), *statements[1:]]
    return tree.with_body(tree.statement(f"def {name}({', '.join(parameters)}):\n    pass\n"), statements)


def returning(body: Sequence[Any], results: Sequence[str]) -> list[Any]:
    """The statements with a `return` of these names at the end; an assignment of just them becomes the return."""
    last = body[-1] if body else None
    if not results:
        return [*body]
    if isinstance(last, cst.SimpleStatementLine) and len(last.body) == 1 and isinstance(last.body[0], cst.Assign) and len(last.body[0].targets) == 1:
        target = last.body[0].targets[0].target
        parts = target.elements if isinstance(target, cst.Tuple) and len(results) > 1 else [cst.Element(target)]
        flat = all(isinstance(p, cst.Element) and isinstance(p.value, cst.Name) for p in parts)  # not `(y, z), state = …`, nor `y, *z = …`
        if flat and tree.target_names(target) == list(results):
            return [*body[:-1], tree.replace(last, body=[cst.Return(last.body[0].value)])]
    return [*body, cst.SimpleStatementLine([cst.Return(names(results))])]


def spaced(node: Any) -> Any:
    """A statement with one empty line before it."""
    return tree.replace(node, leading_lines=[cst.EmptyLine(indent=False)])


OPERATORS: dict[type, Any] = {
    cst.AddAssign: cst.Add, cst.SubtractAssign: cst.Subtract, cst.MultiplyAssign: cst.Multiply, cst.DivideAssign: cst.Divide,
    cst.PowerAssign: cst.Power, cst.FloorDivideAssign: cst.FloorDivide, cst.ModuloAssign: cst.Modulo, cst.BitAndAssign: cst.BitAnd,
    cst.BitOrAssign: cst.BitOr, cst.BitXorAssign: cst.BitXor, cst.MatrixMultiplyAssign: cst.MatrixMultiply,
    cst.LeftShiftAssign: cst.LeftShift, cst.RightShiftAssign: cst.RightShift,
}  # fmt: skip


def unaugmented(small: cst.AugAssign) -> cst.BinaryOperation:
    """`a + b` for `a += b`."""
    kind = OPERATORS[type(small.operator)]
    stand_in = cst.BinaryOperation(cst.Name("a"), kind(), cst.Name("b"))
    return cst.BinaryOperation(small.target, kind(), tree.fit(stand_in, "right", small.value))


def method_name(name: str) -> str:
    """What a method of a module is called in the output: `forward` is what the call of a module runs."""
    return "__call__" if name == "forward" else name


def add_keywords(node: cst.FunctionDef, names: list[str]) -> cst.FunctionDef:
    """Add keyword-only `key=None` and `training=False` to a function's parameters."""
    parameters = node.params
    default = {"key": "None", "training": "False"}
    plain = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    added = [cst.Param(cst.Name(n), default=tree.expression(default[n]), equal=plain, star="") for n in names]
    if not added:
        return node
    star = parameters.star_arg
    if not isinstance(star, (cst.Param, cst.ParamStar)):
        star = cst.ParamStar()
    kwonly = [tree.replace(p, comma=cst.MaybeSentinel.DEFAULT) for p in parameters.kwonly_params]
    positional = [tree.replace(p, comma=cst.MaybeSentinel.DEFAULT) for p in parameters.params]
    return tree.replace(node, params=tree.replace(parameters, params=positional, star_arg=star, kwonly_params=[*kwonly, *added]))
