"""Activity, reaching definitions and liveness, on a few lines each."""

from pathlib import PurePosixPath

import pytest

from transpile.facts.bindings import Definitions, Liveness, bound, free, read
from transpile.model.expressions import Name
from transpile.model.program import Function
from transpile.source.lower import lower


def function(body):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return next(lower(f"def f(p):\n{lines}", PurePosixPath("m.py")).functions())


ACTIVITY = [
    ("x = y + x", "y x", "x"),
    ("x += y", "x y", "x"),
    ("a[i], (b, *c) = d", "d a i", "b c"),
    ("x.y = z", "z x", ""),
    ("z = [i * k for i in r if i > k]", "r k", "z"),
    ("z = [(w := i) for i in r]", "r", "w z"),
    ("f = lambda a, b=c: a + d", "c d", "f"),
    ("def g(a=b):\n    return a + c", "b c", "g"),
    ("for i, j in x:\n    y = i", "x i", "i j y"),
    ("with a() as b:\n    c = b", "a b", "b c"),
    ("import a.b, c as d", "", "a d"),
    ("y = a if b else c", "b a c", "y"),
    ("match x:\n    case [q, *r] if q: s = t", "x q t", "q r s"),
    ("del x", "x", ""),
]


@pytest.mark.parametrize("text, reads, binds", ACTIVITY)
def test_activity(text, reads, binds):
    block = function(text).body
    assert read(block) == reads.split()
    assert sorted(bound(block)) == sorted(binds.split())


def test_free_names_are_those_of_the_scopes_around():
    assert free(function("x = p + y\nz = lambda p: q")) == ["y", "q"]


# The definitions of the name in `use(x)`: the lines of the function that they stand on, 0 for a
# parameter, ? for none.
REACHING = [
    ("x = 1\nuse(x)", "1"),
    ("use(x)", "?"),
    ("use(p)", "0"),
    ("x = 1\nx = 2\nuse(x)", "2"),
    ("if p:\n    x = 1\nuse(x)", "2 ?"),
    ("if p:\n    x = 1\nelse:\n    x = 2\nuse(x)", "2 4"),
    ("x = 1\nfor i in p:\n    use(x)\n    x = 2", "1 4"),
    ("x = 1\nwhile p:\n    x = 2\n    break\nuse(x)", "1 3"),
    ("x = 1\nfor i in p:\n    if i:\n        continue\n    x = 2\nuse(x)", "1 5"),
    ("if p:\n    x = 1\n    return x\nx = 2\nuse(x)", "4"),
    ("try:\n    x = 1\n    x = g()\nexcept E:\n    use(x)", "2 3 ?"),
    ("x = 1\ntry:\n    x = 2\nfinally:\n    use(x)", "1 3"),
    ("x = 1\nwhile (x := g(x)):\n    pass\nuse(x)", "2"),
    ("x = 1\ndel x\nuse(x)", "?"),
]


@pytest.mark.parametrize("text, wanted", REACHING)
def test_reaching_definitions(text, wanted):
    made = function(text)
    use = next(n for n in made.walk() if isinstance(n, Name) and n.id == "use").parent.arguments[0]
    found = Definitions(made).of[use]
    lines = ["?" if d is None else str(made.file.text.count("\n", 0, d.start)) for d in found]
    assert sorted(lines, key=lambda w: (w == "?", w)) == wanted.split()


# What is live after the statement that binds m.
LIVE = [
    ("m = 1\nreturn m + p", "m p"),
    ("m = 1\nx = 2\nreturn x", ""),
    ("m = 1\nif p:\n    return x\nreturn y", "p x y"),
    ("while p:\n    m = 1\n    y = x", "p x"),
    ("for i in p:\n    use(m)\n    m = 1", "m use"),
    ("for i in p:\n    m = 1\n    if i:\n        break\nreturn z", "i z"),
    ("def g():\n    return m\nm = 1\ng()\nreturn 2", "m g"),
    ("try:\n    m = 1\nexcept E:\n    use(x)", "x use E"),
]


@pytest.mark.parametrize("text, wanted", LIVE)
def test_liveness(text, wanted):
    made = function(text)
    found = Liveness(made)
    at = next(s for s in found.after if bound(s) == ["m"] and not hasattr(s, "body"))
    assert found.after[at] == frozenset(wanted.split())


def test_a_function_is_asked_for_its_definitions_once_per_version():
    made = function("x = 1")
    assert isinstance(made, Function) and made.version == 0
    made.body.body[0].expression.replace(Name("y"))
    assert made.version == 1
