"""Calls that change the state beside what reads it: Python evaluates from left to right, and assigns so. Each run twice against torch."""

from functools import partial

import pytest

from transpile import convert_source

from ..small_programs import HEAD, compare_twice

MODULES = """class Sub(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('n', torch.zeros(3))

    def forward(self, x):
        self.n = self.n + 1
        return x * 2 + self.n

    def read(self):
        return self.n


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn, self.sub = nn.BatchNorm1d(3), Sub()
        self.register_buffer('n', torch.zeros(3))
        self.register_buffer('m', torch.zeros(3))
        self.register_buffer('h', torch.zeros(3))
        self.register_buffer('k', torch.zeros(3))

    def step(self, x):
        self.n = self.n + 1
        return x * 2

    def add(self, x):
        self.m.add_(1)
        return x * 2

    def forward(self, x):
        self.n = self.n + 1
        return x * 2, x * 3


class M(Base):
    def two(self, x):
        self.n = self.n + 1
        return x * 2, x * 3

    def forward(self, x):
"""
# name -> body of the forward of M
PROGRAMS = {
    "kept beside another result": "self.h, y = self.two(x)\nreturn self.h + y",
    "two kept": "self.h, self.k = self.two(x)\nreturn self.h + self.k",
    "kept of super": "y, self.h = super().forward(x)\nreturn y + self.h",
    "kept in turns": "for i in range(2):\n    y, self.h = self.two(x + self.h)\nreturn y + self.h",
    "a part of another state": "self.sub.n, y = self.two(x)\nreturn self.sub(y)",
    "rows": "self.h[0], self.h[1] = self.two(x[0, 0])\nreturn self.h + self.n",
    "two under a branch on data": "y, z = x, x\nif x.sum() > -100:\n    y, z = self.two(x)\nreturn y + z + self.n",
    "two under both sides": "if x.sum() > -100:\n    y, z = self.two(x)\nelse:\n    z, y = self.two(x)\nreturn y * 2 + z + self.n",
    "some of many under a branch on data": "y, z = x, [x, x]\nif x.sum() > -100:\n    y, *z = torch.stack([x, x * 2, x * 3])\nreturn y + z[0] * 2 + z[1]",
    "read first": "return self.n + self.step(x)",
    "read first and last": "return torch.stack([self.n.expand(4, 3), self.step(x), self.n.expand(4, 3)])",
    "read last": "return self.step(x) - self.n",
    "in a tuple": "a, b = self.n, self.step(x)\nreturn a + b",
    "in a dict": "d = {'a': self.n, 'b': self.step(x)}\nreturn d['a'] + d['b']",
    "chosen": "return torch.where(self.n > 0, self.step(x), x)",
    "added and kept": "self.h = self.n + self.step(x[0])\nreturn self.h",
    "augmented": "self.n += self.step(x[0])\nreturn self.n * 1",
    "on one side": "return self.n + 1 if x.shape[0] == 9 else self.step(x)",
    "in a list": "return torch.stack([self.n + self.step(x) for _ in range(3)])",
    "of a submodule": "return self.sub.n + self.sub(x)",
    "between two calls": "return self.sub(x) * self.sub.n + self.sub(x)",
    "by a method": "return self.sub.read() + self.sub(x) * self.sub.n",
    "handed to the next call": "return self.sub(self.sub(x) + self.sub.n)",
    "a method of the result": "return self.sub(x).maximum(self.sub(x * 2))",
    "in the test": "if (self.n + self.step(x)).sum() > 1e9:\n    return x\nreturn x + self.n",
    "statistics": "return self.bn.running_mean.sum() + self.bn(x)",
    "statistics in place": "return self.bn.running_mean + self.bn(x)",
    "statistics cloned": "m, y = self.bn.running_mean.clone(), self.bn(x)\nreturn y + m",
    "in place": "return self.m + self.add(x)",
    "computed, then in place": "return self.m * 2 + self.add(x)",
    "row": "self.h[0] = self.add(x)[0, 0] + self.m[0]\nreturn self.h + 1",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_order(name):
    source = HEAD + MODULES + "".join(f"        {line}\n" for line in PROGRAMS[name].splitlines())
    compare_twice(source, lambda module: partial(module.apply, training=True))


COUNT = "        self.seen = getattr(self, 'seen', 0) + 1\n        return x * self.seen\n"


def test_a_count_that_begins_by_a_default():
    source = HEAD + MODULES.replace("class M(Base):\n", "class M(Base):\n    def __init__(self):\n        super().__init__()\n\n") + COUNT
    compare_twice(source, lambda module: partial(module.apply, training=True))


def test_a_count_of_a_class_without_a_constructor_is_reported():
    found = convert_source(HEAD + MODULES + COUNT).diagnostics
    assert [d.id for d in found] == ["unsupported"] and "M.seen is set while the model runs" in found[0].message


def test_what_both_binds_and_writes_is_refused():
    body = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('n', torch.zeros(3))\n    def step(self, x):\n        self.n.add_(1)\n        self.n = self.n * 2\n        return x\n    def forward(self, x):\n        return self.n + self.step(x)\n"
    assert [d.id for d in convert_source(HEAD + body).diagnostics] == ["state-in-expression"]


@pytest.mark.parametrize("value", ["self.bump() + self.bump() * 10", "torch.stack([self.bump(), self.bump()])"])
def test_what_a_call_has_given_is_not_changed_by_the_next_unsaid(value):
    """torch reads the one array that both calls give, after both."""
    body = f"class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('n', torch.zeros(3))\n    def bump(self):\n        self.n += 1\n        return self.n\n    def forward(self, x):\n        return x * ({value})\n"
    assert [d.id for d in convert_source(HEAD + body).diagnostics] == ["state-in-expression"]


def test_a_generator_that_changes_the_state_is_reported():
    body = MODULES.replace("    def forward(self, x):\n", "    def each(self, x):\n        yield self.bn(x)\n\n    def forward(self, x):\n") + "        return sum(self.each(x))\n"
    found = [d for d in convert_source(HEAD + body).diagnostics if d.id == "state-in-expression"]
    assert found and "generator" in found[0].message
