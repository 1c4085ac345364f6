"""What was changed is formatted, and nothing of it gets lost."""

import ast

import pytest

from transpile.source.formatting import format_changed

BEFORE = "def f(self, x):\n    return x\n"
LONG = ", ".join(f"argument_number_{i}" for i in range(7))
CHANGED = {
    # a line that goes on behind a backslash, in front of brackets over several lines
    "def f(self, x):\n    y = g(x)\n    x = self.b(x) + \\\n        self.c(\n            y\n        )\n    return x\n": (
        "def f(self, x):\n    y = g(x)\n    x = self.b(x) + self.c(y)\n    return x\n"
    ),
    "def f(self, x):\n    if x:\n        y = a + \\\n        [\n            x,\n        ]\n    return x\n": (
        "def f(self, x):\n    if x:\n        y = a + [\n            x,\n        ]\n    return x\n"
    ),
    # several arguments on one line that is too long
    f"def f(self, x):\n    y = g(\n        {LONG}, rngs=x\n    )\n    return y\n": (
        "def f(self, x):\n    y = g(\n"
        + "".join(f"        {name},\n" for name in [*LONG.split(", "), "rngs=x"])
        + "    )\n    return y\n"
    ),
    f"def f(self, x):\n    y = g(\n        {LONG}, h\n    )\n    return y\n": (
        "def f(self, x):\n    y = g(\n"
        + "".join(f"        {name},\n" for name in [*LONG.split(", "), "h"])
        + "    )\n    return y\n"
    ),
    # a function that is new stands apart, with its comment
    "def f(self, x):\n    y = x\n    def g(x):\n        return x\n    x = g(x)\n    return x\n": (
        "def f(self, x):\n    y = x\n\n    def g(x):\n        return x\n\n    x = g(x)\n    return x\n"
    ),
    "def f(self, x):\n    if x:\n        # why\n        def g(x):\n            return x\n    else:\n        g = None\n    return x\n": (
        "def f(self, x):\n    if x:\n        # why\n        def g(x):\n            return x\n\n    else:\n        g = None\n    return x\n"
    ),
    # brackets that the user laid out stay so
    "def f(self, x):\n    y = g(\n        x\n    )\n    return x\n": (
        "def f(self, x):\n    y = g(\n        x\n    )\n    return x\n"
    ),
}


@pytest.mark.parametrize("code", CHANGED)
def test_layout_alone_changes(code):
    made = format_changed(code, BEFORE)
    assert made == CHANGED[code]
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(code))
