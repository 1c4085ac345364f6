"""What shares memory with what, what functions write and give back."""

import pytest

from tests.facts.programs import Program
from transpile.facts.calls import Calls
from transpile.facts.memory import Memory
from transpile.model import rule_files

RULES = rule_files.load()


def memory_of(text):
    program = Program(text)
    return program, Memory(Calls(program.values), RULES)


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


def test_results():
    program, memory = memory_of(
        "def g(t):\n    t.add_(1)\n\n\ndef h(t):\n    t.add_(1)\n\n\n"
        "def f(x):\n    z = x * 1\n    g(z)\n    return map(h, [z])\n"
    )
    results = memory.results
    assert results.of(program.function("g")).names == ("t",)
    assert results.of(program.function("h")) is None  # it is passed on as a value
    assert results.taken(program.function("f").body.body[1]) is not None
