"""Classes whose base is no one class by its name: found where it is one after all, else refused, since a module that is
none has a `forward` that nothing calls, and the base's would run in its place."""

import pytest
import torch

from transpile import convert_source

from ..dialects.verified import verify
from ..small_programs import HEAD, load

TARGETS = ["functional", "flax", "equinox"]
TWICE = """
        def forward(self, x):
            return super().forward(x) * 2
"""
NET = """

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.twice = {made}

    def forward(self, x, y):
        return self.twice(x) + y
"""
KNOWN = {
    "a class of the function": (
        "def make(k):\n    class Base(nn.Module):\n        def __init__(self):\n            super().__init__()\n            self.l = nn.Linear(4, 4)\n\n"
        "        def forward(self, x):\n            return self.l(x) * k\n\n    class Twice(Base):" + TWICE + "    return Twice()\n",
        "make(3)",
    ),
    "a name of the function": ("def make():\n    Base = nn.Tanh\n    class Twice(Base):" + TWICE + "    return Twice()\n", "make()"),
    "with types": ("from typing import Generic, TypeVar\nT = TypeVar('T')\nclass Twice(nn.Tanh, Generic[T]):" + TWICE, "Twice()"),
}
UNKNOWN = {
    "given": ("def make(norm):\n    class Twice(norm):" + TWICE + "    return Twice\n", "make(nn.BatchNorm1d)(4)"),
    "given by the name of another": (
        "class Base(nn.Module):\n    pass\n\ndef make(Base):\n    class Twice(Base):" + TWICE + "    return Twice\n",
        "make(nn.BatchNorm1d)(4)",
    ),
    "changed": ("def make(norm):\n    norm = {'batch': nn.BatchNorm1d}[norm]\n    class Twice(norm):" + TWICE + "    return Twice\n", "make('batch')(4)"),
    "of a decorator": (
        "def doubled(cls):\n    class Twice(cls):" + TWICE + "    return Twice\n\n@doubled\nclass Lin(nn.Module):\n    def forward(self, x):\n        return x\n",
        "Lin()",
    ),
    "made": ("def get():\n    return nn.Tanh\n\nclass Twice(get()):" + TWICE, "Twice()"),
    "chosen": ("K = 1\nBase = nn.Tanh if K else nn.ReLU\n\nclass Twice(Base):" + TWICE, "Twice()"),
    "chosen by a branch": ("K = 1\nif K:\n    Base = nn.Tanh\nelse:\n    Base = nn.ReLU\n\nclass Twice(Base):" + TWICE, "Twice()"),
    "of a dict": ("KINDS = {'a': nn.Tanh}\n\nclass Twice(KINDS['a']):" + TWICE, "Twice()"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KNOWN)
def test_a_base_that_is_found(name, target):
    text, made = KNOWN[name]
    verify(HEAD + text + NET.format(made=made), "Net", "", [*torch.randn(2, 3, 4, dtype=torch.float64)], target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", UNKNOWN)
def test_a_base_that_is_not_known_is_refused_where_the_class_is_built(name, target):
    text, made = UNKNOWN[name]
    result = convert_source(HEAD + text + NET.format(made=made), target=target)
    assert {d.id for d in result.diagnostics} == {"module-value"}, (result.diagnostics, result.code)
    scope = load(result)
    with pytest.raises(NotImplementedError, match="module-value"):
        eval(made, {**scope, "nn": scope.get("nn")})


@pytest.mark.parametrize("target", TARGETS)
def test_a_class_that_a_call_makes(target):
    made = "type('Twice', (nn.Tanh,), {'forward': lambda self, x: x * 2})()"
    result = convert_source(HEAD + NET.format(made=made), target=target)
    assert [d.id for d in result.diagnostics] == ["unsupported"]
    with pytest.raises(NotImplementedError, match="unsupported"):
        load(result)["Net"]()
