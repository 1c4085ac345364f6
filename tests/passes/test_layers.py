"""Loops over equal layers, before and after."""

import pytest

from tests.passes.control_helper import Facts, program, run
from transpile import convert_source
from transpile.model.carry import Effects
from transpile.model.effects import Apply
from transpile.model.expressions import Call, Name
from transpile.passes import layers
from transpile.source.show import show
from transpile.source.splice import write

# The body of `def f(self, x, mask)`, and what is made of it: nothing where it stays.
LOOPS = [
    ("for block in self.blocks:\n    x = block(x)", "ApplyEach(self.blocks, x)"),
    (
        "for block in self.blocks:\n    x = block(x, mask, scale=2)",
        "ApplyEach(self.blocks, x, mask, scale=2)",
    ),
    (
        "for i, block in enumerate(self.blocks):\n    x = block(x)",
        "ApplyEach(self.blocks, x)",
    ),
    ("for i, block in enumerate(self.blocks):\n    x = block(x, i)", ""),
    ("for block in self.blocks:\n    x = block(x, make())", ""),
    ("for block in self.blocks:\n    x = block(x, *mask)", ""),
    ("for block in self.blocks:\n    x = block(mask)", ""),
    ("for block in self.blocks:\n    x = block(x) + x", ""),
    ("for block in self.blocks:\n    x = block(x)\n    y = x", ""),
    ("for block in self.blocks:\n    x = block(x)\nelse:\n    x = mask", ""),
    ("for block in self.blocks:\n    x = block(x)\nx = block(x)", ""),
    ("for block in self.blocks:\n    x += block(x)", ""),
]

READS = frozenset(["block.weight"])


def made(body, effects=None, **facts):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    file = program(f"def f(self, x, mask):\n{lines}    return x", torch=True)
    for call in [n for n in file.walk() if isinstance(n, Call)]:
        if isinstance(call.function, Name) and call.function.id == "block":
            found = Effects(READS) if effects is None else effects
            call.become(Apply(call.function, call.arguments, call.keywords, found))
    run(file, [layers], Facts(**facts))
    return file


def each(file):
    return [n for n in file.walk() if isinstance(n, Apply) and n.each is not None]


@pytest.mark.parametrize("body, outcome", LOOPS)
def test_loop(body, outcome):
    file = made(body, equal=True)
    assert "".join(show(n).strip() for n in each(file)) == outcome


@pytest.mark.parametrize("facts", [{"equal": False}, {"equal": None}])
def test_layers_that_may_differ_stay(facts):
    file = made(LOOPS[0][0], **facts)
    assert not each(file)


@pytest.mark.parametrize("effects", [Effects(READS, frozenset(["block.mean"])), Effects(READS, open=True), Effects()])
def test_layers_that_write_or_hold_nothing_stay(effects):
    file = made(LOOPS[0][0], effects, equal=True)
    assert not each(file)


def test_layers_that_draw_do_not():
    file = made(LOOPS[0][0], Effects(READS, draws=True), equal=True)
    assert each(file)


def test_comments_stay():
    body = "for block in self.blocks:  # all\n    # one\n    x = block( x )  # after another\n# then"
    text = write(made(body, equal=True))
    assert "    # all\n    # one\n    x = self.blocks( x )  # after another\n    # then" in text


SEQUENCES = {"x = self.a(x + 1)": True, "x = self.b(self.a(x))": True, "x = self.c(x)": False}
NET = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.a = nn.Sequential(*[nn.Linear(d, d) for _ in range(n)])
        made = []
        for _ in range(n):
            made.append(nn.Linear(d, d))
        self.b = nn.Sequential(*made)
        self.c = nn.Sequential(*[nn.Conv1d(d, d, 1) for _ in range(n)])

    def forward(self, x):
        {}
        return x
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
@pytest.mark.parametrize("line", SEQUENCES)
def test_sequences_that_do_not_convolve(line, target):
    code = convert_source(NET.format(line), target).code
    assert code.count("nn.scan_layers(") == (line.count("self.") if SEQUENCES[line] else 0)
