"""Jumps that data decide: before and after, by small programs."""

import pytest

from tests.passes.exits_helper import Facts, convert, function
from transpile.passes.structured_exits import run

BRANCHES = {
    "early return": (
        "if x.mean() > 0:  # large\n    return x  # as it is\n# else\ny = x * 2  # twice\nreturn y",
        "if x.mean() > 0:  # large\n    return x  # as it is\nelse:\n    # else\n    y = x * 2  # twice\n    return y",
    ),
    "static return before": (
        "if flag:\n    return y\nif x.mean() > 0: return x\nreturn y",
        "if flag:\n    return y\nif x.mean() > 0: return x\nelse:\n    return y",
    ),
    "nested": (
        "if x.mean() > 0:\n    if y.mean() > 0:\n        return x * y\n    x = x + 1\nreturn x - y",
        "if x.mean() > 0:\n    if y.mean() > 0:\n        return x * y\n    else:\n        x = x + 1\n        return x - y\nelse:\n    return x - y",
    ),
    "elif returns": (
        "if x.mean() > 1:\n    return x\nelif x.mean() > 0:\n    return y\nreturn x + y",
        "if x.mean() > 1:\n    return x\nelif x.mean() > 0:\n    return y\nelse:\n    return x + y",
    ),
    "one of three returns": (
        "if x.mean() > 1:\n    z = x\nelif x.mean() > 0:\n    return y\nelse:\n    z = n\nreturn z",
        "if x.mean() > 1:\n    z = x\n    return z\nelif x.mean() > 0:\n    return y\nelse:\n    z = n\n    return z",
    ),
    "under a static branch": (
        "if x.ndim == 2:\n    if x.mean() > 0:\n        return x\n    y = y * 2\nreturn y",
        "if x.ndim == 2:\n    if x.mean() > 0:\n        return x\n    else:\n        y = y * 2\n        return y\nreturn y",
    ),
    "nothing is returned": (
        "if x.sum() > 0:\n    return\ny = 2",
        "if ~(x.sum() > 0):\n    y = 2",
    ),
    "nothing is returned, behind something": (
        "if x.sum() > 0:\n    y = 3\n    return\ny = 2",
        "if x.sum() > 0:\n    y = 3\nelse:\n    y = 2",
    ),
    "in a with, and then a name": (
        "with u:\n    if x.mean() > 0:\n        return x\nreturn y",
        "with u:\n    if x.mean() > 0:\n        return x\n    else:\n        return y",
    ),
    "both sides end": (
        "if x.mean() > 0:\n    return x\nelse:\n    return y",
        "if x.mean() > 0:\n    return x\nelse:\n    return y",
    ),
}
LOOPS = {
    "break at the end": (
        "for _ in range(n):\n    x = f(x)\n    if x.mean() > 0:\n        break\nreturn x",
        "running = True\nfor _ in range(n):\n    if running:\n        x = f(x)\n        running = ~(x.mean() > 0)\nreturn x",
    ),
    "break first": (
        "# halve\nfor i in range(5):  # turns\n    if x.sum() < 2:\n        break\n    # once\n    x = x * 0.5\nreturn x",
        "running = True\n# halve\nfor i in range(5):  # turns\n    if running:\n        if x.sum() < 2:\n            running = False\n        else:\n            # once\n            x = x * 0.5\nreturn x",
    ),
    "return over layers is a break": (
        "for layer in layers:\n    x = layer(x)\n    if x.mean() > 0:\n        return x\nreturn x",
        "running = True\nfor layer in layers:\n    if running:\n        x = layer(x)\n        running = ~(x.mean() > 0)\nreturn x",
    ),
    "return of another thing": (
        "for layer in layers:\n    x = layer(x)\n    if x.mean() > 0:\n        return y\nz = x * 2\nreturn z",
        "running = True\nfor layer in layers:\n    if running:\n        x = layer(x)\n        running = ~(x.mean() > 0)\nif running:\n    z = x * 2\n    return z\nelse:\n    return y",
    ),
    "return and break": (
        "for i in range(3):\n    if x.sum() < 1:\n        return y\n    if y.sum() > 0:\n        break\n    x = x * 2\nreturn x",
        "running = True\nreturned = False\nfor i in range(3):\n    if running:\n        if x.sum() < 1:\n            returned = True\n            running = False\n        else:\n            if y.sum() > 0:\n                running = False\n            else:\n                x = x * 2\nif returned:\n    return y\nelse:\n    return x",
    ),
    "what is returned is kept": (
        "for i in range(3):\n    x = x * 0.5\n    if x.sum() < 1:\n        return x, i\nreturn y, 3",
        "running = True\nresult = unset\nfor i in range(3):\n    if running:\n        x = x * 0.5\n        if x.sum() < 1:\n            result = x, i\n            running = False\nif running:\n    return y, 3\nelse:\n    return result",
    ),
    "nothing is returned from the last loop": (
        "for i in range(n):\n    x = x * 2\n    if x.sum() > 1:\n        return",
        "running = True\nfor i in range(n):\n    if running:\n        x = x * 2\n        running = ~(x.sum() > 1)",
    ),
    "continue": (
        "for row in x:\n    if row.sum() < 0:\n        continue\n    y = y + row\nreturn y",
        "for row in x:\n    if row.sum() < 0:\n        pass\n    else:\n        y = y + row\nreturn y",
    ),
    "else": (
        "for i in range(3):\n    if x.sum() < 1:\n        break\nelse:\n    x = x + y\nreturn x",
        "running = True\nfor i in range(3):\n    if running:\n        running = ~(x.sum() < 1)\nif running:\n    x = x + y\nreturn x",
    ),
    "the target is read later": (
        "for row in x:\n    if row.sum() > 0:\n        break\nreturn row + y",
        "running = True\nrow = unset\nfor next_row in x:\n    if running:\n        row = next_row\n        running = ~(row.sum() > 0)\nreturn row + y",
    ),
    "a local is read later": (
        "for i in range(4):\n    t = x[i] * 2\n    if t.sum() > 0:\n        break\nreturn y * t",
        "running = True\nt = unset\nfor i in range(4):\n    if running:\n        t = x[i] * 2\n        running = ~(t.sum() > 0)\nreturn y * t",
    ),
    "while": (
        "k = 0\nwhile x.sum() > 1:\n    x = x * 0.5\n    if y.sum() > k:\n        break\nreturn x",
        "k = 0\nrunning = True\nwhile running & (x.sum() > 1):\n    x = x * 0.5\n    running = ~(y.sum() > k)\nreturn x",
    ),
    "while of a static test": (
        "while n > 1:\n    x = x * 0.5\n    if x.sum() > 3:\n        break\nreturn x",
        "running = True\nwhile n > 1 and running:\n    x = x * 0.5\n    running = ~(x.sum() > 3)\nreturn x",
    ),
    "while True": (
        "while True:\n    t = x * 0.5\n    if t.sum() < 1:\n        break\n    x = t\nreturn t",
        "running = True\nt = unset\nwhile running:\n    t = x * 0.5\n    if t.sum() < 1:\n        running = False\n    else:\n        x = t\nreturn t",
    ),
    "while True that only returns leave": (
        "while True:\n    x = x * 0.5\n    if x.sum() < 1:\n        return x + y",
        "running = True\nwhile running:\n    x = x * 0.5\n    running = ~(x.sum() < 1)\nreturn x + y",
    ),
    "and what they return": (
        "while True:\n    t = x * 0.5\n    if t.sum() < 1:\n        return t\n    x = t",
        "running = True\nresult = unset\nwhile running:\n    t = x * 0.5\n    if t.sum() < 1:\n        result = t\n        running = False\n    else:\n        x = t\nreturn result",
    ),
    "static break in a while on data": (
        "while x.sum() > 1:\n    x = x * 0.5\n    if flag:\n        break\nreturn x",
        "running = True\nwhile running & (x.sum() > 1):\n    x = x * 0.5\n    if flag:\n        running = False\nreturn x",
    ),
    "the user's running": (
        "running = 1\nfor i in range(5):\n    if i == 3:\n        break\n    if x.sum() < 1:\n        continue\n    x = x * running\nreturn x",
        "running = 1\nrunning_2 = True\nfor i in range(5):\n    if running_2:\n        if i == 3:\n            running_2 = False\n        else:\n            if x.sum() < 1:\n                pass\n            else:\n                x = x * running\nreturn x",
    ),
    "two loops": (
        "for i in range(3):\n    for j in range(3):\n        if x.sum() > 0: continue\n        x = x + 1\n    if x.sum() > 9: break\n    y = y + 1\nreturn x + y",
        "running = True\nfor i in range(3):\n    if running:\n        for j in range(3):\n            if x.sum() > 0:\n                pass\n            else:\n                x = x + 1\n        if x.sum() > 9: running = False\n        else:\n            y = y + 1\nreturn x + y",
    ),
    "return from the inner of two": (
        "for i in range(2):\n    for j in range(2):\n        x = x * 0.6\n        if x.sum() < 2:\n            return x\nreturn x - y",
        "running = True\nfor i in range(2):\n    if running:\n        running_2 = True\n        for j in range(2):\n            if running_2:\n                x = x * 0.6\n                running_2 = ~(x.sum() < 2)\n        if running_2:\n            pass\n        else:\n            running = False\nif running:\n    return x - y\nelse:\n    return x",
    ),
}
GUARDS = {
    "and": (
        "if flag and x.sum() > 0:\n    y = y * 2\nreturn y",
        "if flag:\n    if x.sum() > 0:\n        y = y * 2\nreturn y",
    ),
    "and, else": (
        "if o is not None and x.sum() > 0:\n    z = y * o\nelse:\n    z = y\nreturn z",
        "if o is not None:\n    if x.sum() > 0:\n        z = y * o\n    else:\n        z = y\nelse:\n    z = y\nreturn z",
    ),
    "or": (
        "if o is None or x.sum() > 0:\n    return y\nz = y * o\nreturn z",
        "if o is None:\n    return y\nif x.sum() > 0:\n    return y\nelse:\n    z = y * o\n    return z",
    ),
}
STATIC = {
    "break": "for i in range(n):\n    if flag:\n        break\n    x = x * 2\nreturn x",
    "return": "if u is None:\n    return x\nif x.shape[0] > 2 and not flag:\n    return y\nreturn x * y",
    "data without jumps": "if x.sum() > 0:\n    y = y * 2\nreturn y",
    "static jump beside data": "for i in range(n):\n    if i == 2:\n        continue\n    if x.sum() > 0:\n        y = y * 2\nreturn y",
}
CHECKS = {
    "alone": ("if jnp.isnan(x).any():\n    raise ValueError('nan')\nreturn x * y", "return x * y"),
    "one of three": (
        "if x.sum() > 0:\n    return x\nelif y.sum() > 0:\n    raise ValueError('nan')\nelse:\n    z = y\nreturn z",
        "if x.sum() > 0:\n    return x\nelse:\n    z = y\n    return z",
    ),
}
REFUSED = {
    "in a try": "try:\n    if x.mean() > 0:\n        return x\nfinally:\n    k = 2\nreturn y",
    "in a with that computes": "with u:\n    if x.mean() > 0:\n        return x\n    z = y\nz = z * 2\nreturn z",
    "else": "for i in range(3):\n    if x.sum() < 1:\n        return x\nelse:\n    y = y * 2\nreturn y",
}


@pytest.mark.parametrize("name", [*BRANCHES, *LOOPS, *GUARDS])
def test_program(name):
    before, after = {**BRANCHES, **LOOPS, **GUARDS}[name]
    assert function(run, before) == (after, [])


@pytest.mark.parametrize("name", [*BRANCHES, *LOOPS])
def test_the_result_has_no_jumps_on_data(name):
    """What came out is as it has to be: the pass finds nothing more."""
    after = {**BRANCHES, **LOOPS}[name][1].replace("unset", "x")
    if "running = x" not in after:
        assert function(run, after) == (after, [])


@pytest.mark.parametrize("name", STATIC)
def test_static_control_stays(name):
    assert function(run, STATIC[name]) == (STATIC[name], [])


@pytest.mark.parametrize("name", CHECKS)
def test_checks_are_left_out(name):
    before, after = CHECKS[name]
    assert function(run, before) == (after, ["data-check"])


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    made, found = function(run, REFUSED[name])
    assert found == ["traced-branch"] and "nn.unconverted(" in made


@pytest.mark.parametrize("stage", ["host", "building", "import"])
def test_what_runs_on_values_stays(stage):
    body = LOOPS["break first"][0]
    assert function(run, body, Facts(stage)) == (body, [])


def test_what_is_written_twice_is_reported_once():
    body = "if x.sum() > 0:\n    if y.sum() > 0:\n        return x\nif m.any():\n    raise ValueError\nreturn y"
    assert function(run, body)[1] == ["data-check"]


def test_methods_and_inner_functions():
    text = "class M:\n    def __call__(self, x: jax.Array):\n        def g(t: jax.Array):\n            if t.sum() > 0:\n                return t\n            return -t\n        return g(x)\n"
    made, _ = convert(run, text)
    assert "                return t\n            else:\n                return -t\n" in made
