"""Bindings of the nodes of JAX with self: what they read and bind, in which order."""

from pathlib import PurePosixPath

import pytest

from transpile.facts.bindings import Definitions, Liveness, bound, events, read
from transpile.model.carry import Carry
from transpile.model.control_flow import Collect, Cond, Loop, Repeat, Scan
from transpile.model.copy import clone
from transpile.model.effects import (
    Apply,
    Declare,
    Detached,
    Key,
    Mode,
    Put,
    Read,
    Shape,
    Support,
    Tie,
    Unconverted,
    Unset,
    Write,
)
from transpile.model.expressions import Call, Name, NamedExpression
from transpile.model.program import Function, Parameter
from transpile.model.statements import Assign, Block, ExpressionStatement, Return
from transpile.source.lower import lower


def named(name, value):
    """`name := value`: so that the order shows."""
    return NamedExpression(Name(name), Name(value))


def assign(name, *values):
    return Assign([Name(name)], Call(Name("f"), [Name(v) for v in values]))


def block(*statements):
    return Block(statements)


EXPRESSIONS = [
    (Support("relu"), ""),
    (Read(Name("layer"), "weight", "param"), "layer"),
    (Apply(Name("m"), [Name("x"), named("a", "y")]), "m x y =a"),
    (Key(), ""),
    (Mode(Name("self")), "self"),
    (Detached(named("a", "x")), "x =a"),
    (Shape(named("a", "x")), "x =a"),
    (Put(named("a", "x"), named("b", "i"), "set", named("c", "v")), "x =a i =b v =c"),
    (Unconverted("no-rule", "f(x)"), ""),
    (Unset(), ""),
]
STATEMENTS = [
    (Declare(Read(Name("self"), "w", "param"), Name("v"), "param", "w"), "v self"),
    (Write(Read(Name("m"), "hits", "buffer"), named("a", "v")), "v =a m"),
    (Tie(Read(Name("m"), "a", "param"), Read(Name("n"), "b", "param")), "n m"),
    (Cond(Name("t"), block(assign("a", "x")), block(assign("b", "y")), Carry(), False), ""),
    (Loop(Name("t"), block(assign("a", "x")), Carry(), Name("n")), "n t f x =a"),
    (Repeat(Name("i"), Name("n"), block(assign("a", "i")), Carry()), "n =i f i =a"),
    (Scan(Name("i"), Name("xs"), block(assign("a", "i")), Carry()), "xs =i f i =a"),
    (
        Scan(Name("i"), Name("xs"), block(Collect("out", Name("i"))), Carry()),
        "xs =i i =out",
    ),
]
STATEMENTS[3] = (STATEMENTS[3][0], "t f x =a f y =b")


@pytest.mark.parametrize("node, wanted", [*EXPRESSIONS, *STATEMENTS])
@pytest.mark.parametrize("copied", [False, True])
def test_events_in_the_order_of_evaluation(node, wanted, copied):
    node = clone(node) if copied else node
    found = [("=" if e.kind.value == "bind" else "") + e.name for e in events(node)]
    assert " ".join(found) == wanted


def function(*statements):
    return Function("f", [Parameter("xs"), Parameter("h")], block(*statements))


def test_a_scan_binds_what_it_collects():
    after = Return(Name("out"))
    begun = Assign([Name("out")], Name("xs"))
    scan = Scan(
        Name("x"),
        Name("xs"),
        block(assign("h", "h", "x"), Collect("out", Name("h"))),
        Carry(["h"], ["h"]),
    )
    made = function(begun, scan, after)
    live = Liveness(made)
    assert live.after[begun] == {"xs", "h", "f"} and live.after[scan] == {"out"}
    assert Definitions(made).of[after.expression] == {scan.body.body[1]}


def test_the_bound_of_a_loop_is_read_before_it():
    first = assign("n", "h")
    loop = Loop(Name("h"), block(assign("h", "h")), Carry(), Name("n"))
    made = function(first, loop)
    assert "n" in Liveness(made).after[first]
    assert Definitions(made).of[loop.bound] == {first.targets[0]}


def test_a_cond_is_an_if():
    first, inner = assign("h", "xs"), assign("h", "xs")
    cond = Cond(Name("xs"), block(inner), None, Carry(), False)
    after = Return(Name("h"))
    made = function(first, cond, after)
    assert Definitions(made).of[after.expression] == {first.targets[0], inner.targets[0]}


def test_a_copy_of_a_call_has_keywords_of_its_own():
    made = next(lower("f(x)", PurePosixPath("m.py")).walk(), None)
    call = next(n for n in made.walk() if isinstance(n, Call))
    clone(call).append(Name("y"), "k")
    assert call.keywords == [None]


def test_what_is_asked_of_statements_with_nothing():
    assert read(ExpressionStatement(Key())) == [] and bound(None) == []
