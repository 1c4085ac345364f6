"""Methods that stand below an `if` in a class."""

import textwrap
from pathlib import PurePosixPath

import pytest

from transpile.passes import class_branches
from transpile.source.lower import lower
from transpile.source.splice import write

TWO = """
if MODE:  # fast
    def f(self, x):
        # one
        return x
else:
    def f(self, x):
        return x * 2  # two
"""
JOINED = """
def f(self, x):
    if MODE:
        # one
        return x
    else:
        return x * 2  # two
"""
CASES = {
    TWO: JOINED,
    TWO.replace("MODE", "x"): None,
    "MODE = 1\n" + TWO: None,
    TWO.replace("x * 2", "(MODE := x)"): None,
    TWO.replace("f(self, x):\n        return", "f(self, x, n=1):\n        return"): None,
    TWO.replace("else:\n    def f", "else:\n    def g"): None,
    TWO.replace("else:\n", "else:\n    y = 1\n"): None,
    TWO.partition("else")[0]: None,
}


@pytest.mark.parametrize("before", CASES)
def test_before_and_after(before):
    text = "class Net:\n" + textwrap.indent(before.strip(), "    ") + "\n"
    file = lower(text, PurePosixPath("module.py"))
    for scope in file.scopes():
        class_branches.PASS.run(scope, None).commit()
    after = (CASES[before] or before).strip()
    assert write(file).replace("    # fast\n", "") == "class Net:\n" + textwrap.indent(after, "    ") + "\n"
