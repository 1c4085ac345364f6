"""What shares memory with what, what functions write and give back."""

import pytest

from tests.facts.programs import Program
from transpile.facts.calls import Calls
from transpile.facts.memory import Memory, Relation
from transpile.model import rule_files
from transpile.model.expressions import Name
from transpile.model.names import below

RULES = rule_files.load()


def memory_of(text):
    program = Program(text)
    return program, Memory(Calls(program.values), RULES)


# statements, and how `a` lies to `b` behind them
RELATIONS = {
    "a = x * 2\nb = a": Relation.SAME,
    "a = x * 2\nb = a * 1": Relation.APART,
    "b = x * 2\na = b[0]": Relation.VIEW,
    "a = x * 2\nb = a.view(-1)": Relation.BASE,
    "z = x * 2\na = z[:, 0]\nb = z[:, 1:]": Relation.PART,
    "z = x * 2\na, b = z.chunk(2)": Relation.PART,
    "z = x * 2\na = z[:2]\nb = z[1:]": Relation.UNKNOWN,
    "a = x * 2\nb = a if n else x": Relation.UNKNOWN,
    "a = x * 2\nb = a[[0, 1]]": Relation.APART,
    "a = x * 2\nb = a.clone()": Relation.APART,
    "a = x\nb = a.detach()": Relation.BASE,
    "b = x * 2\na = torch.relu_(b)": Relation.SAME,
    "a = x * 2\nbs = [a]\nb = bs[0]": Relation.UNKNOWN,
    "a = b = x * 2\nif n:\n    b = x * 3": Relation.UNKNOWN,
    "b = None\nfor i in range(n):\n    a = x * i\n    if i == 0:\n        b = a": Relation.UNKNOWN,
}


@pytest.mark.parametrize("text", RELATIONS)
def test_relation(text):
    lines = "".join(f"    {line}\n" for line in f"{text}\nreturn a, b".splitlines())
    program, memory = memory_of(f"def f(x: torch.Tensor, n: int):\n{lines}")
    last = program.function("f").body.body[-1]
    a, b = below(last, Name)
    assert memory.relation(a, b) is RELATIONS[text]
    assert memory.may_alias(a, b) is (RELATIONS[text] not in (Relation.APART, Relation.PART))


# a function, what it writes, and what its result may be
SUMMARIES = {
    "def f(t):\n    t.add_(1)\n": ({"t"}, set(), set()),
    "def f(t):\n    t[0].relu_()\n    return t\n": ({"t"}, set(), {"t"}),
    "def f(t, u):\n    w = t.view(-1)\n    w[0] = u\n": ({"t"}, set(), set()),
    "def f(t):\n    t = t * 2\n    t += 1\n    return t\n": (set(), set(), set()),
    "def f(ts: list[torch.Tensor]):\n    ts[0].add_(1)\n": (set(), {"ts"}, set()),
    "def f(*ts):\n    for t in ts:\n        t.add_(1)\n": (set(), {"ts"}, set()),
    "def g(t):\n    t.add_(1)\n\n\ndef f(u):\n    g(u[0])\n": ({"u"}, set(), set()),
    "def f(t, n):\n    if n:\n        f(t, n - 1)\n    t += torch.ones(3)\n    return t[0]\n": (
        {"t"},
        set(),
        {"t"},
    ),
    "def f(t):\n    return t.clone().add_(1)\n": (set(), set(), set()),
    "def f(t, n):\n    n += 1\n    return t * n\n\n\ny = f(torch.ones(3), 2)\n": (
        set(),
        set(),
        set(),
    ),
}


@pytest.mark.parametrize("text", SUMMARIES)
def test_summary(text):
    program, memory = memory_of(text)
    summary = memory.summary(program.function("f"))
    found = summary.parameters, summary.elements, set(summary.passed.parameters)
    assert found == SUMMARIES[text]


PRESENT = """class M(nn.Module):
    def __init__(self, kernel: int, bias=True, up=False):
        super().__init__()
        self.up = up
        self.w = nn.Parameter(torch.ones(3)) if kernel else None
        self.b = nn.Parameter(torch.ones(3)) if CONDITION else None

    def forward(self, x):
        w = self.w.to(x.dtype) if self.w is not None else None
        b = self.b if self.b is not None else None
        if self.up and w is not None:
            x = x * w * 2
        else:
            if w is not None:
                x = x * w
        if b is not None:
            x = x.add_(b)
        return x
"""
# the condition on which there is a bias, what else is changed, whether the argument may be written
PRESENCES = [
    ("kernel and bias", "", "", False),
    ("kernel", "", "", False),
    ("bias", "", "", True),
    ("kernel or bias", "", "", True),
    ("kernel and bias", "        self.w = None\n", "", True),
    ("kernel and bias", "        kernel = 0\n", "", True),
    ("kernel and bias", "", "    def fuse(self):\n        self.w = None\n", True),
    ("kernel and bias", "", "    def fuse(self):\n        setattr(self, 'w', None)\n", True),
    ("kernel and bias", "", "class N(M):\n    def __init__(self):\n        self.w = None\n", True),
    ("kernel and bias", "", "def fuse(m):\n    m.w = None\n", True),
]


@pytest.mark.parametrize("condition, build, more, written", PRESENCES)
def test_what_is_there_together(condition, build, more, written):
    text = PRESENT.replace("CONDITION", condition).replace("\n    def forward", f"{build}\n    def forward")
    program, memory = memory_of(text + more)
    assert memory.summary(program.function("M.forward")).parameters == ({"x"} if written else set())


MODULE = """class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("hits", torch.zeros(3))
        self.fc = nn.Linear(3, 3)
        nn.init.zeros_(self.fc.bias)

    def count(self):
        self.hits += 1

    def last(self):
        return self.hits

    def forward(self, x):
        self.count()
        h = self.last()
        h.mul_(2)
        return x
"""


def test_fields():
    program, memory = memory_of(MODULE)
    fields = {
        name: memory.summary(program.function(f"M.{name}")).fields
        for name in ("__init__", "count", "last", "forward")
    }
    assert fields == {
        "__init__": {"self.fc.bias"},
        "count": {"self.hits"},
        "last": set(),
        "forward": {"self.hits"},
    }


def test_reached():
    program, memory = memory_of(
        "def f(x):\n    z = x * 2\n    w = z[0]\n    v = z * 1\n    w.add_(1)\n    return z, v\n"
    )
    write = program.function("f").body.body[3]
    assert memory.reached(write) == {"w", "z"}
    places = memory.writes(write)
    assert len(places) == 1 and memory.unique(places[0])


def test_a_parameter_is_not_unique():
    program, memory = memory_of("def f(x):\n    w = x[0]\n    w.add_(1)\n")
    assert not memory.unique(memory.writes(program.function("f").body.body[1])[0])


def test_results():
    program, memory = memory_of(
        "def g(t):\n    t.add_(1)\n\n\ndef h(t):\n    t.add_(1)\n\n\n"
        "def f(x):\n    z = x * 1\n    g(z)\n    return map(h, [z])\n"
    )
    results = memory.results
    assert results.of(program.function("g")).names == ("t",)
    assert results.of(program.function("h")) is None  # it is passed on as a value
    assert results.taken(program.function("f").body.body[1]) is not None
