"""Random programs with jumps that data decide give the same before and after, run as Python."""

import random

import numpy as np
import pytest

from tests.passes.exits_helper import convert
from transpile.passes.structured_exits import run

DATA = ["x > {c}", "y < {c}", "x + y > {c}", "y > x"]
STATIC = ["n > 2", "flag", "i > 1", "flag and x > {c}"]
VALUES = ["x * 0.5 + {c}", "y - x", "t + 1", "x * y * 0.25", "i + x", "x"]


class Random:
    """One program of nested branches and loops."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self):
        lines = ["def f(x: Array, y: Array, n: int, flag: bool):", "    t = x", "    i = 0"]
        return "\n".join([*lines, *self.block(1, 0, 5), "    return x, y, t", ""])

    def some(self, choices):
        return self.random.choice(choices).format(c=self.random.randint(-2, 2))

    def block(self, depth, loops, most):
        lines = []
        for _ in range(self.random.randint(1, most)):
            lines += self.statement(depth, loops)
        return lines

    def statement(self, depth, loops):
        pad, kind = "    " * depth, self.random.random()
        if depth > 4 or kind < 0.4:
            return [f"{pad}{self.random.choice('xyts')} = {self.some(VALUES)}"]
        if kind < 0.7:
            test = self.some(DATA if self.random.random() < 0.7 else STATIC)
            lines = [f"{pad}if {test}:", *self.ended(depth + 1, loops)]
            if self.random.random() < 0.4:
                lines += [f"{pad}else:", *self.ended(depth + 1, loops)]
            return lines
        if kind < 0.9 and loops < 2:
            name = "ij"[loops]
            head = f"{pad}for {name} in range({self.random.randint(1, 4)}):"
            lines = [head, *self.block(depth + 1, loops + 1, 3)]
            if self.random.random() < 0.2:
                lines += [f"{pad}else:", f"{pad}    y = y + 1"]
            return lines
        return [f"{pad}t = {self.some(VALUES)}"]

    def ended(self, depth, loops):
        pad = "    " * depth
        ends = ["return x", "return y, t", "return x, y, t", ""] + ["break", "continue"] * 3 * (
            loops > 0
        )
        end = self.random.choice(ends)
        lines = self.block(depth, loops, 2) if not end or self.random.random() < 0.5 else []
        return [*lines, *([pad + end] if end else [])]


def result(text, arguments):
    """What the program gives, or the name of what it raises."""
    scope = {"Array": object, "unset": None, "jnp": np}
    exec(compile(text, "<program>", "exec"), scope)
    try:
        return scope["f"](*arguments)
    except (UnboundLocalError, TypeError) as error:
        return type(error).__name__


@pytest.mark.parametrize("first", range(0, 150, 50))
def test_random_programs(first):
    changed = 0
    for seed in range(first, first + 50):
        before = Random(seed).text()
        after, diagnostics = convert(run, before)
        if diagnostics or after == before:
            continue
        changed += 1
        values = np.random.RandomState(seed)
        for n in range(8):
            x, y = values.randn(2) * 3
            arguments = (np.float64(x), np.float64(y), n, bool(n % 2))
            wanted = result(before, arguments)
            if not isinstance(wanted, str):  # a name without a value raises in one only
                assert result(after, arguments) == wanted, f"{seed}\n{before}\n{after}"
    assert changed > 10
