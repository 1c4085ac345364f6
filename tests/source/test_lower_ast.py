"""The second lowering, from Python's own trees, gives nodes that are written the same."""

import ast
from pathlib import Path, PurePosixPath

import pytest

from transpile.model.program import File
from transpile.model.statements import Block
from transpile.source.lower import lower
from transpile.source.lower_ast import expression
from transpile.source.lower_ast_statements import lower_statements
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
    "(await x).y",
]
FILES = [
    *sorted((ROOT / "rules").glob("*.py"))[::6],
    *sorted((ROOT / "fixtures/torch").glob("*.py"))[::2],
    *sorted((ROOT / "transpile/source").glob("*.py")),
]
STATEMENTS = """
import a.b as c, d
from . import e
from ..f import g as h, i
x = y = 1
x += 1
x: int
x: int = 2
del x, y[0]
assert x, "no"
async def f(a, *, b: int = 1) -> None:
    global g
    async with a as (b, c), d:
        await d
    async for x in y:
        yield x
    else:
        return
@decorator
class A(B, metaclass=C):
    '''Doc.'''
    def g(self):
        nonlocal_ = 1
        while True:
            if a:
                break
            elif b:
                continue
            else:
                pass
        raise X from e
try:
    a
except (A, B) as e:
    b
except C:
    raise
else:
    c
finally:
    d
for x, y in z:
    def f():
        nonlocal q
"""


def same(text, other):
    return ast.dump(ast.parse(text)) == ast.dump(ast.parse(other))


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_is_written_as_the_same_one(text):
    asynchronous = f"async def f():\n    return ({text})\n"
    made = show(expression(text)) if "await" not in text else show(statements(asynchronous)[0])
    assert same(f"({made})", f"({text})") if "await" not in text else same(made, asynchronous)


def statements(text):
    return lower_statements(ast.parse(text).body)


def written(text):
    return "\n".join(show(statement) for statement in statements(text))


def test_statements_are_written_as_the_same_ones():
    assert same(written(STATEMENTS), STATEMENTS)


def _skip_formats(text):
    inserted = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FormattedValue)]
    if any(n.format_spec is not None or n.conversion >= 0 for n in inserted):
        pytest.skip("formats are written as calls of format")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_are_written_as_the_same_program(path):
    text = path.read_text()
    _skip_formats(text)
    assert same(written(text), text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_both_lowerings_make_the_same_nodes(path):
    text = path.read_text()
    _skip_formats(text)
    file = File(PurePosixPath("a.py"), "", Block(statements(text)))
    kinds = [type(n).__name__ for n in file.walk()]
    assert sorted(kinds) == sorted(
        type(n).__name__ for n in lower(text, PurePosixPath("a.py")).walk()
    )


def test_formats_and_conversions_are_calls():
    scope = {"x": 1.5, "w": 8, "s": "a"}
    for text in ("f'{x:.2f}|{s!r:>{w}}|{x}'", "f'a\"b\\n{s}\\''"):
        assert eval(show(expression(text)), scope) == eval(text, scope)


def test_what_matches_says_what_it_reads_and_binds():
    made = statements("match x:\n    case A(y=1, z=q) if w: f(q)\n    case [*r]: g(r)\n")[0]
    assert made.binds == ("q", "r")
