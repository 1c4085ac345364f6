"""What is kept of a scope: it holds for one version of it."""

from pathlib import PurePosixPath

import pytest

from transpile.model.expressions import Name
from transpile.model.names import statements
from transpile.model.node import Statement
from transpile.model.program import Function
from transpile.model.statements import Assign, Block, Pass, Return
from transpile.source.lower import lower

TEXTS = [
    "x = f(lambda: 1)\nreturn_ = x",
    "def f(a=1):\n    if a:\n        return a\n    else:\n        a += 1\n    return a",
    "for i in x:\n    while i:\n        break\n    else:\n        pass\nelse:\n    y = 2",
    "try:\n    a = 1\nexcept E as e:\n    raise\nelse:\n    b = 1\nfinally:\n    c = [i for i in x]",
    "class A(B):\n    n = 1\n    @p\n    def f(self):\n        with a as b, c:\n            del b",
    "match x:\n    case 1:\n        y = 1",
]


@pytest.mark.parametrize("text", TEXTS)
def test_statements_are_those_of_a_walk(text):
    file = lower(text + "\n", PurePosixPath("a.py"))
    assert list(statements(file)) == [n for n in file.walk() if isinstance(n, Statement)]


def test_an_edit_drops_what_was_found():
    file = lower("def f(x):\n    y = x\n    return y\n", PurePosixPath("a.py"))
    (function,) = file.functions()
    assert len(function.nodes(Assign, Return)) == 2 and len(list(file.scopes())) == 2
    made = Function("g", [], Block([Pass()]))
    function.body.insert_before(function.body.body[0], [made, Assign([Name("z")], Name("x"))])
    assert [n.start < 0 for n in function.nodes(Assign, Return)] == [True, False, False]
    assert list(file.scopes()) == [file, function, made]
