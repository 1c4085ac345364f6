"""The form in which JAX with self is shown, as the blueprint prints it."""

from pathlib import PurePosixPath

import pytest

from transpile.model.carry import Carried, Carry, Effects
from transpile.model.control_flow import Cond, Loop, Scan
from transpile.model.effects import (
    Apply,
    BoundMethod,
    Declare,
    Detached,
    Key,
    Mode,
    New,
    Put,
    Read,
    Shape,
    Support,
    Tie,
    Unconverted,
    Unset,
    Walk,
    Write,
)
from transpile.model.expressions import Attribute, Call, Constant, Name
from transpile.model.operators import Binary, Unary
from transpile.model.program import Function
from transpile.source.lower import lower
from transpile.source.lower_ast import expression
from transpile.source.show import show

GATED = """class Gated:
    def __call__(self, x):  # of a batch
        if jnp.abs(x).mean() > self.limit:
            x = self.norm(x)
            self.hits = self.hits + 1
        for _ in range(self.steps):
            if running:
                x = self.drop(jnp.tanh(self.conv(x)))
                running = jnp.abs(x).max() >= 0.5
        return x
"""
SHOWN = """\
def __call__(self, x):
    Cond jnp.abs(x).mean() > self.limit                       in x; out x; Writes{self.hits}
        x = Apply(self.norm, x)
        Write(self.hits, Read(self.hits) + 1)
    Scan _ over range(self.steps)                             carried x, running; Keys
        Cond running                                          in x; out x; total
            x = Apply(self.drop, jnp.tanh(Apply(self.conv, x)))
            running = jnp.abs(x).max() >= 0.5
    return x
"""


def test_the_example_of_the_blueprint():
    file = lower(GATED, PurePosixPath("m.py"))
    f = next(n for n in file.walk() if isinstance(n, Function))
    for call in [n for n in f.walk() if isinstance(n, Call)]:
        target = call.function
        if isinstance(target, Attribute) and target.name in ("norm", "conv", "drop"):
            call.become(Apply(target, call.arguments, call.keywords))
    branch, loop, _ = f.body.body
    store = branch.body.body[1]
    read = next(n for n in store.expression.walk() if isinstance(n, Attribute))
    read.become(Read(read.object, "hits", "buffer"))
    store.become(Write(Read(store.targets[0].object, "hits", "buffer"), store.expression))
    inner = loop.body.body[0]
    x = Carry(["x"], ["x"])
    inner.become(Cond(inner.test, inner.body, None, x, True))
    writes = Carry(["x"], ["x"], Effects(writes=frozenset(["self.hits"])))
    branch.become(Cond(branch.test, branch.body, None, writes, False))
    both = Carry(["x", "running"], ["x", "running"], Effects(draws=True))
    loop.become(Scan(loop.target, loop.iterable, loop.body, both, "running"))
    assert show(f) == SHOWN


def read(name="w"):
    return Read(Name("m"), name, "param")


NODES = [
    (Support("relu"), "nn.relu"),
    (Binary(read(), "*", Binary(Name("a"), "+", Name("b"))), "Read(m.w) * (a + b)"),
    (Apply(Name("f"), [Name("x"), Key()], [None, "key"]), "Apply(f, x, key=Key)"),
    (New(Support("Linear"), [Constant(3)]), "New(nn.Linear, 3)"),
    (BoundMethod(Name("self"), "attend"), "BoundMethod(self.attend)"),
    (Unary("not", Mode(Name("self"))), "not Mode(self)"),
    (Detached(Binary(Name("a"), "+", Name("b"))), "Detached(a + b)"),
    (Shape(Name("x")), "Shape(x)"),
    (Put(Name("x"), expression("a[i, ::2]").index, "add", Name("y")), "Put(x, [i, ::2], add, y)"),
    (Unconverted("no-rule", "f(x)"), "Unconverted(no-rule, f(x))"),
    (Unset(), "Unset"),
    (Declare(Attribute(Name("self"), "w"), Name("v"), "param", "w"), "Declare(param, self.w, v)"),
    (Write(read(), Name("v"), detached=True), "Write(m.w, v, detached)"),
    (Tie(read("a"), read("b")), "Tie(m.a, m.b)"),
    (Apply(Name("blocks"), [Name("x")], each="block"), "ApplyEach(blocks, x)"),
]


@pytest.mark.parametrize("node, text", NODES)
def test_every_node_is_shown(node, text):
    assert show(node) == text + "\n"


def test_what_is_known_of_what_is_carried():
    body = lower("x = f(x)\nn += 1", PurePosixPath("m.py")).body
    names = {"x": Carried("unset", None, None), "n": Carried("bound", "i", True)}
    loop = Loop(Name("t"), body, Carry(["x", "n"], ["x", "n"], names=names), Constant(9))
    assert show(loop).split("   ")[-1].strip().startswith("n += 1")
    header = " ".join(show(loop).splitlines()[0].split())
    assert header == "Loop t carried x, n; unset x; same n; at most 9 turns"


def test_a_walk_and_whole_files():
    file = lower("import a\n\nfor m in self.modules():\n    m.w = 1\n", PurePosixPath("m.py"))
    loop = file.body.body[1]
    loop.become(Walk(loop.target, loop.iterable, loop.body))
    assert show(file) == "import a\nWalk m over self.modules()\n    m.w = 1\n"
