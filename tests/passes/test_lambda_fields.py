"""Lambdas that a constructor keeps: which become methods, and which stay."""

from pathlib import PurePosixPath

import pytest

from transpile.model.edits import commit_all
from transpile.model.project import Project
from transpile.passes import lambda_fields
from transpile.source.lower import lower
from transpile.source.splice import write

BEFORE = """class Net(nn.Module):
    def __init__(self, dim):
        self.fc = nn.Linear(dim, dim)
        {line}
        self.last = 1
"""
METHODS = {
    "self.f = lambda x: self.fc(x)": "def f(self, x):\n        return self.fc(x)",
    "m = self.fc; self.f = lambda x: m(x)": "def f(self, x):\n        return self.fc(x)",
    "self.f = lambda x, y=2: self.fc(x) * y  # twice": (
        "def f(self, x, y=2):\n        return self.fc(x) * y  # twice"
    ),
    "# once;def run(x):;    y = self.fc(x)  # y;    return y;self.f = run  # kept": (
        "# once\n    # kept\n    def f(self, x):\n        y = self.fc(x)  # y\n        return y\n"
    ),
}
STAY = [
    "self.f = lambda x: x + 1",  # it holds nothing of self
    "self.f = lambda x: self.fc(x) * dim",  # dim is the constructor's
    "self.f = g = lambda x: self.fc(x)",
    "self.f = lambda self: self.fc",
    "self.f = lambda x: self.fc(x); self.f = None",  # another thing later on
    "def run(x):;    return self.fc(x) * dim;self.f = run",
    "def run(x):;    return self.fc(x);self.f = run; y = run(1)",  # it is read elsewhere
]


def converted(text: str, beside: str = "") -> str:
    project = Project("")
    paths = [PurePosixPath(name) for name in ("m.py", "beside.py")]
    file, _ = [project.add(path, lower(given, path)) for path, given in zip(paths, (text, beside))]
    project.link()
    project.collect_again()
    commit_all(lambda_fields.run(project))
    return write(file)


def source(line: str) -> str:
    return BEFORE.format(line="\n        ".join(line.replace("; ", ";").split(";")))


@pytest.mark.parametrize("line", METHODS)
def test_becomes_a_method(line):
    after = converted(source(line))
    assert METHODS[line] in after
    assert "lambda" not in after and "m = self.fc" not in after


@pytest.mark.parametrize("line", STAY)
def test_stays(line):
    assert converted(source(line)) == source(line)


@pytest.mark.parametrize("line", ["self.f = lambda x, fc=self.fc: fc(x)", "m = self.fc; self.f = lambda x: m(x)"])
def test_stays_where_a_subclass_elsewhere_sets_the_part_again(line):
    beside = "from m import Net\nclass Other(Net):\n    def __init__(self):\n        self.{} = nn.Linear(1, 1)\n"
    assert converted(source(line), beside.format("fc")) == source(line)
    assert "def f(self, x)" in converted(source(line), beside.format("head"))


WRITES = {
    "f = lambda t: t.add_(1)\nf(x)\n": "def f(t):\n    t.add_(1)\nf(x)\n",
    "f = lambda t, n=1: t.add_(n)  # once\ny = f(x)\n": (
        "def f(t, n=1):\n    return t.add_(n)  # once\ny = f(x)\n"
    ),
    "import torch.nn as nn\nf = lambda m: nn.init.zeros_(m.weight)\nnet.apply(f)\n": (
        "import torch.nn as nn\ndef f(m):\n    nn.init.zeros_(m.weight)\nnet.apply(f)\n"
    ),
}


@pytest.mark.parametrize("text", WRITES)
def test_becomes_a_function_that_writes(text):
    assert converted(text) == WRITES[text]


def test_what_an_initialiser_gives_back_counts():
    text = "import torch.nn as nn\nf = lambda w: nn.init.zeros_(w)\ninit(m, f)\n"
    assert converted(text) == text
