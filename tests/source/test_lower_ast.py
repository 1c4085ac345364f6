"""The second lowering, from Python's own trees, gives nodes that are written the same."""

import ast
from pathlib import Path

import pytest

from transpile.source.lower_ast import expression, lower_statements
from transpile.source.splice import show

ROOT = Path(__file__).parents[2]
EXPRESSIONS = [
    "x",
    "1",
    "-1.5e-12",
    "'a' + b'b'",
    "...",
    "a.b.c",
    "a[1:2, ::3, None, ...]",
    "a[b]",
    "a[1,]",
    "f(x, *a, k=1, **d)",
    "f(x for x in y if x if z)",
    "-x ** -y",
    "(-x) ** y",
    "(a + b) * c @ d // e % f",
    "~a & b | c ^ d << 1 >> 2",
    "not (a or b) and c",
    "a < b <= c is not None not in d",
    "(a if b else c) if d else (e, f)",
    "[a, *b, (c, d), ()]",
    "{a, *b}",
    "{a: 1, **b}",
    "[(x, y) for x in a for y in x if y]",
    "{x: y for x, y in a}",
    "{x for x in a}",
    "lambda a, /, b=1, *c, d, e=2, **f: (a, b)",
    "lambda: 0",
    "(a := b + 1)",
    "f'{a} {{b}} \"{c}\"'",
]
STATEMENTS = """
x = y = 1
x += 1
def f(a, *, b=1):
    for x in y:
        g(x)
    else:
        return
    if a:
        return b
    elif b:
        raise X from e
    else:
        return {'a': [a], **b}
"""
RULES = sorted((ROOT / "rules").glob("*.py"))


def same(text, other):
    return ast.dump(ast.parse(text)) == ast.dump(ast.parse(other))


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_is_written_as_the_same_one(text):
    assert same(f"({show(expression(text))})", f"({text})")


def statements(text):
    return lower_statements(ast.parse(text).body)


def written(text):
    return "\n".join(show(statement) for statement in statements(text))


def test_statements_are_written_as_the_same_ones():
    assert same(written(STATEMENTS), STATEMENTS)


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_every_statement_of_the_rules_has_a_node(path):
    functions = [n for n in ast.parse(path.read_text()).body if isinstance(n, ast.FunctionDef)]
    for function in functions:
        assert len(lower_statements(function.body)) == len(function.body)


def test_formats_and_conversions_are_calls():
    scope = {"x": 1.5, "w": 8, "s": "a"}
    for text in ("f'{x:.2f}|{s!r:>{w}}|{x}'", "f'a\"b\\n{s}\\''"):
        assert eval(show(expression(text)), scope) == eval(text, scope)
