"""Small programs in both dialects, beside torch; what is refused in them, by line."""

from pathlib import PurePosixPath

import pytest
import torch

from transpile.command.engine import convert
from transpile.source.files import Source

from .verified import verify

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

"""
PROGRAMS = {
    "a function that makes a param": """
def weight(*sizes):
    return nn.Parameter(nn.init.kaiming_normal_(torch.zeros(*sizes), mode="fan_out"))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = weight(3, 3)

    def forward(self, x):
        return x @ self.w
""",
    "a function that draws, with a key of attention": """
def attention(query, key, value, p=0.0, training=False):
    weights = F.softmax(query @ key.transpose(-2, -1), dim=-1)
    return F.dropout(weights, p, training) @ value


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 9)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        query, key, value = self.fc(x).chunk(3, dim=-1)
        return self.drop(attention(query, key, value, 0.1, self.training))
""",
}

PROGRAMS["a param under a name that a method is given"] = """
class Base(nn.Module):
    def bounded(self, name):
        w = getattr(self, name)
        return torch.tanh(w)


class Net(Base):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * self.bounded("scale")
"""
LOOP = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        count = 0
        {loop}:
            r = torch.sin(self.fc(x)) + count
            count += 1
            if r.sum() > 10:
                break
        return r
"""
PROGRAMS["what a module holds, one after the other"] = """
class Stack(nn.Sequential):
    def forward(self, x):
        for name, module in self.named_children():
            x = module(x)
            if name == "11":
                break
        return x


class Twice(nn.Module):
    def forward(self, x):
        return x * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.body = Stack(nn.Linear(3, 3), *[Twice() for _ in range(11)], nn.ReLU())

    def forward(self, x):
        return self.body(self.norm(self.fc(x)))
"""
PROGRAMS["a name that only a turn sets"] = LOOP.format(loop="for i in range(4)")


@pytest.mark.parametrize("target", ["flax", "equinox"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_beside_torch(name, target):
    x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
    verify(HEAD + PROGRAMS[name], "Net", "", [x], target)


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_a_name_that_may_have_no_turn_is_refused(target):
    text = HEAD + LOOP.format(loop="while True")
    (made,), _, _ = convert(
        [Source(PurePosixPath("net.py"), text, "utf-8", False, "\n")], "", target
    )
    assert [(d.id, d.line) for d in made.diagnostics] == [("traced-loop", 13)]
    assert "nn.unconverted" in made.code


TESTS = {"draws": "torch.rand(()) < 0.9 and x.sum() < 100", "writes state": "self.go(x)"}


@pytest.mark.parametrize("target", ["flax", "equinox"])
@pytest.mark.parametrize("what", TESTS)
def test_a_loop_whose_test_has_effects_is_refused(what, target):
    made = converted(
        HEAD
        + f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(()))

    def go(self, x):
        self.n += 1
        return x.sum() < 100

    def forward(self, x):
        while {TESTS[what]}:
            x = x * 2
        return x
""",
        target,
    )
    assert [(d.id, d.line) for d in made.diagnostics] == [("traced-loop", 16)]
    assert what in made.diagnostics[0].message and "nn.unconverted" in made.code


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_what_is_not_converted_keeps_no_import(target):
    made = converted("import torch\n\n\ndef f(x, opt=torch.optim.Adam):\n    return x\n", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("no-rule", 4)]
    assert "import torch" not in made.code


def converted(text, target):
    (made,), _, _ = convert(
        [Source(PurePosixPath("net.py"), text, "utf-8", False, "\n")], "", target
    )
    return made
