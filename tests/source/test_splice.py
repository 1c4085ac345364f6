"""The model gives the user's bytes back, and what is edited stands in the user's layout."""

import ast
import sysconfig
from pathlib import Path, PurePosixPath

import pytest

from transpile.model.copy import clone
from transpile.model.expressions import Attribute, Call, Constant, FormattedString, Name
from transpile.model.node import Expression
from transpile.model.operators import Binary
from transpile.model.statements import Assign, Block, ExpressionStatement, If, Return
from transpile.source.lower import lower
from transpile.source.splice import write

ROOT = Path(__file__).parents[2]
FILES = [
    *sorted((ROOT / "fixtures/torch").glob("*.py")),
    *sorted((ROOT / "transpile/model").glob("*.py")),
    *sorted(
        p for p in Path(sysconfig.get_path("stdlib")).glob("*.py") if p.stat().st_size < 20_000
    )[::4],
]
SNIPPETS = [
    "",
    "x = 1",
    "\n\n# only a comment",
    "if x:\n\ty = (  # why\n\t\t1)\n",
    "x = f(\r\n  y)\r\n",
    "@d\n@ e (1)\ndef f(): return  g ( x )",
    "a; b;  c = 1 # end\nif x: a; b\nelif y: c\nelse : d",
    "x[0,], x[1:2, ::3], x[*a], x[()]\n",
    "f(*a, k=1, **b)\n[*a, b]\n{**a, 'b': c}\n{1, *d}\n",
    "f(x for x in (y)  if  x)\n",
    "x = (yield)\ny = yield x\n",
    "f'{a!r:>{w}} {b}' 'c' f\"{d}\"\n",
    "f\"\"\"a {', '.join(b)} {c[\"d\"]} {e(\"f\", g)}\"\"\"\n",
    "match x:\n    case A(y=1) if z: f(y)\n    case [*r]: g(r)\n",
    "def f(a, /, b: int = 1, *c, d=(1, 2), **e) -> None:\n    # nothing\n    pass  # yet\n    # end\n\n",
    "try:\n    a\nexcept (A, B) as e:\n    b\nelse:\n    c\nfinally:\n    d\n",
    "async def f():\n    async with a as b, c:\n        await d\n    async for x in y: pass\n",
    "x = lambda *a, k=1: (a , k)\nassert(x)\ndel (a), b\n",
    "class A(B, metaclass=C):\n    '''Doc.'''\n\n    x: int\n    y: int = 2; z = 3\n",
    "x = not a if b else -c ** -d\nx += (a := 1)\nglobal x\n",
]


def model(text):
    return lower(text, PurePosixPath("module.py"))


TEXTS = [
    *(pytest.param(text, id=repr(text)[:30]) for text in SNIPPETS),
    *(pytest.param(path.read_bytes().decode("utf-8"), id=path.name) for path in FILES),
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_bytes_come_back(text):
    assert write(model(text)) == text


@pytest.mark.parametrize("text", TEXTS)
def test_expressions_replaced_by_their_equals_keep_the_bytes(text):
    file = model(text)
    for node in reversed(list(file.walk())):
        if isinstance(node, Expression):
            equal = clone(node)
            equal.touched = True  # its text is put together from its parts
            node.replace(equal)
    assert write(file) == text


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_rendered_means_the_same(text):
    file = model(text)
    for node in list(file.walk()):
        if isinstance(node, Expression) and not _in_string(node):
            node.restate()
    assert _meaning(write(file)) == _meaning(text)


def _in_string(node):
    return any(isinstance(n, FormattedString) for n in (node, *node.ancestors()))


def _meaning(text):
    """The syntax tree, `a and (b and c)` as `a and b and c`."""

    class Flat(ast.NodeTransformer):
        def visit_BoolOp(self, node):
            self.generic_visit(node)
            first = node.values[0]
            if isinstance(first, ast.BoolOp) and type(first.op) is type(node.op):
                node.values[0:1] = first.values
            return node

    return ast.dump(Flat().visit(ast.parse(text)))


# --- edits: source, what is done to it, what comes out --------------------------------------------


def first(file, kind, having=lambda node: True):
    return next(n for n in file.walk() if isinstance(n, kind) and having(n))


def replace_name(old, new):
    def edit(file):
        first(file, Name, lambda n: n.id == old).replace(new())

    return edit


def on_statement(text, act):
    """Do something with the block and the statement that begins with a text."""

    def edit(file):
        block, statement = next(
            (n, s)
            for n in file.walk()
            if isinstance(n, Block)
            for s in n.body
            if file.text.startswith(text, s.start)
        )
        act(block, statement)

    return edit


def call(name, *arguments):
    return Call(Name(name), list(arguments))


def statement(name):
    return ExpressionStatement(call(name))


def add(a, b):
    return Binary(Name(a), "+", Name(b))


EDITS = [
    ("y = x * 2  # two\n", replace_name("x", lambda: add("a", "b")), "y = (a + b) * 2  # two\n"),
    ("y = (x) * 2\n", replace_name("x", lambda: Name("z")), "y = z * 2\n"),
    ("assert(x)\n", replace_name("x", lambda: Name("z")), "assert z\n"),
    ("f'{x}'\n", replace_name("x", lambda: Constant("a")), "f'{\"a\"}'\n"),
    (
        "f(\n    x,  # first\n    y,\n)\n",
        replace_name("y", lambda: Name("z")),
        "f(\n    x,  # first\n    z,\n)\n",
    ),
    ("f()\n", lambda m: first(m, Call).append(Name("k"), "key"), "f(key=k)\n"),
    ("f(x)\n", lambda m: first(m, Call).append(Name("k"), "key"), "f(x, key=k)\n"),
    ("f(\n    x,\n)\n", lambda m: first(m, Call).append(Name("k")), "f(\n    x,\n    k,\n)\n"),
    ("f(x for x in y)\n", lambda m: first(m, Call).append(Name("k")), "f((x for x in y), k)\n"),
    ("x.size()\n", lambda m: first(m, Attribute).rename("shape"), "x.shape()\n"),
    (
        "y = g(  x )\n",
        lambda m: first(m, Call).wrap(lambda inner: Call(Name("f"), [inner])),
        "y = f(g(  x ))\n",
    ),
    (
        "y = a + \\\n    b\n",
        lambda m: first(m, Binary).wrap(lambda inner: Binary(inner, "*", Name("c"))),
        "y = (a + \\\n    b) * c\n",
    ),
    (
        "def f():\n    a\n    # above b\n    b  # behind b\n    c\n",
        on_statement("b", lambda block, s: block.remove(s)),
        "def f():\n    a\n    # above b\n    # behind b\n    c\n",
    ),
    (
        "def f():\n    a\n    # above b\n    b  # behind b\n    c\n",
        on_statement("b", lambda block, s: (block.take(s), block.append([s]))),
        "def f():\n    a\n    c\n    # above b\n    b  # behind b\n",
    ),
    (
        "def f():\n    if b:  # why\n        # above d\n        d\n    c\n",
        on_statement("if", lambda block, s: block.remove(s)),
        "def f():\n    # why\n    # above d\n    c\n",
    ),
    (
        "def f():\n    if b:\n        d  # what\n    c\n",
        on_statement("if", lambda block, s: block.substitute(s, [statement("n")])),
        "def f():\n    # what\n    n()\n    c\n",
    ),
    (
        "def f():\n    try:\n        # why\n        a\n    except E:\n        # else\n        b\n    c\n",
        on_statement("try", lambda block, s: block.unfold(s, s.handlers[0].body)),
        "def f():\n    # why\n    # else\n    b\n    c\n",
    ),
    (
        "def f():\n    a  # first\n    b\n",
        on_statement("a", lambda block, s: block.insert_after(s, [statement("n"), statement("m")])),
        "def f():\n    a  # first\n    n()\n    m()\n    b\n",
    ),
    (
        "def f():\n    a\n    b  # last\n\nx\n",
        on_statement("b", lambda block, s: block.insert_after(s, [statement("n")])),
        "def f():\n    a\n    b  # last\n    n()\n\nx\n",
    ),
    (
        "def f():\n\n    a\n",
        on_statement("a", lambda block, s: block.insert_before(s, [statement("n")])),
        "def f():\n    n()\n\n    a\n",
    ),
    (
        "def f():\n    # doc\n    a\n",
        on_statement("a", lambda block, s: block.insert_before(s, [statement("n")])),
        "def f():\n    n()\n    # doc\n    a\n",
    ),
    (
        "def f():\n    a\n    # about b\n    b\n",
        on_statement("b", lambda block, s: block.substitute(s, [statement("n"), statement("m")])),
        "def f():\n    a\n    # about b\n    n()\n    m()\n",
    ),
    (
        "if x: return y  # why\n",
        on_statement("return", lambda block, s: block.insert_before(s, [statement("n")])),
        "if x:\n    n()\n    return y  # why\n",
    ),
    (
        "if x:\n    a\nelif y:\n    b\n",
        on_statement("if y", lambda block, s: block.insert_before(s, [statement("n")])),
        "if x:\n    a\nelse:\n    n()\n    if y:\n        b\n",
    ),
    (
        "a; b\n",
        on_statement("b", lambda block, s: block.insert_before(s, [statement("n")])),
        "a\nn()\nb\n",
    ),
    *[
        (
            "def f():\n    a; b; c  # why\n    d\n",
            lambda file, gone=gone: [
                on_statement(word, lambda block, s: block.remove(s))(file) for word in gone
            ],
            f"def f():\n{lines}\n    d\n",
        )
        for gone, lines in {
            "a": "    b\n    c  # why",
            "ab": "    c  # why",
            "bc": "    a  # why",
            "abc": "    # why",
        }.items()
    ],
    (
        "def f():\n    a; b; c\n",
        lambda file: [on_statement(w, lambda block, s: block.remove(s))(file) for w in "bc"],
        "def f():\n    a\n",
    ),
    (
        "def f():\n    a\n",
        on_statement("a", lambda block, s: block.remove(s)),
        "def f():\n    pass\n",
    ),
]


@pytest.mark.parametrize(
    "text, edit, wanted", EDITS, ids=lambda v: repr(v)[:24] if isinstance(v, str) else ""
)
def test_edits(text, edit, wanted):
    file = model(text)
    edit(file)
    assert write(file) == wanted


def test_a_statement_goes_with_its_comments():
    text = "class A:\n    def f(self):\n        # why\n        x = [\n            1,\n        ]  # what\n        return x\n\nb\n"
    file = model(text)
    source, taken = next(
        (n, s) for n in file.walk() if isinstance(n, Block) for s in n.body if isinstance(s, Assign)
    )
    source.take(taken)
    file.body.append([If(Name("t"), Block([taken, Return(None)]))])
    assert write(file) == (
        "class A:\n    def f(self):\n        return x\n\nb\n"
        "if t:\n    # why\n    x = [\n        1,\n    ]  # what\n    return\n"
    )
