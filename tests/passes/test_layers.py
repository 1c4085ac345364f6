"""Loops over equal layers, before and after."""

import pytest

from tests.passes.control_helper import Facts, program, run
from transpile.model.carry import Effects
from transpile.model.effects import Apply, Layers
from transpile.model.expressions import Call, Name
from transpile.passes import layers
from transpile.source.show import show
from transpile.source.splice import write

# The body of `def f(self, x, mask)`, and what is made of it: nothing where it stays.
LOOPS = [
    ("for block in self.blocks:\n    x = block(x)", "Layers self.blocks: x = Apply(block, x)"),
    (
        "for block in self.blocks:\n    x = block(x, mask, scale=2)",
        "Layers self.blocks: x = Apply(block, x, mask, scale=2)",
    ),
    (
        "for i, block in enumerate(self.blocks):\n    x = block(x)",
        "Layers self.blocks: x = Apply(block, x)",
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


def made(body, effects=None, **facts):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    file = program(f"def f(self, x, mask):\n{lines}    return x", torch=True)
    for call in [n for n in file.walk() if isinstance(n, Call)]:
        if isinstance(call.function, Name) and call.function.id == "block":
            found = effects or Effects()
            call.become(Apply(call.function, call.arguments, call.keywords, found))
    run(file, [layers], Facts(**facts))
    return file


@pytest.mark.parametrize("body, outcome", LOOPS)
def test_loop(body, outcome):
    file = made(body, equal=True)
    assert "".join(show(n).strip() for n in file.walk() if isinstance(n, Layers)) == outcome


@pytest.mark.parametrize("facts", [{"equal": False}, {"equal": None}])
def test_layers_that_may_differ_stay(facts):
    file = made(LOOPS[0][0], **facts)
    assert not any(isinstance(n, Layers) for n in file.walk())


@pytest.mark.parametrize("effects", [Effects(writes=frozenset(["block.mean"])), Effects(open=True)])
def test_layers_that_write_stay(effects):
    file = made(LOOPS[0][0], effects, equal=True)
    assert not any(isinstance(n, Layers) for n in file.walk())


def test_layers_that_draw_do_not():
    file = made(LOOPS[0][0], Effects(draws=True), equal=True)
    assert any(isinstance(n, Layers) for n in file.walk())


def test_the_text_stays_the_users():
    file = made("for block in  self.blocks:\n    x = block( x )  # one after another", equal=True)
    assert any(isinstance(n, Layers) for n in file.walk())
    assert "for block in  self.blocks:\n        x = block( x )  # one after another" in write(file)
