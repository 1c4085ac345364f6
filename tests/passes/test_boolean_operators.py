"""The truth of what data tell: before and after, by small programs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from rules import branching
from tests.passes.exits_helper import Facts, function
from transpile.passes.boolean_operators import run

EXPRESSIONS = {
    "x.mean() > 0 and y.mean() > 0": "(x.mean() > 0) & (y.mean() > 0)",
    "not m": "~m",
    "not (x < 1).all()": "~(x < 1).all()",
    "not i == n": "i != n",
    "not i < n": "i >= n",
    "not x < n": "~(x < n)",
    "not flag": "not flag",
    "bool(m.all())": "m.all()",
    "int(x.sum())": "x.sum().astype(int)",
    "float(x[0])": "lax.stop_gradient(x[0].reshape(())).astype(float)",
    "int(n)": "int(n)",
    "-0.5 < x.mean() < 2": "(-0.5 < (middle := x.mean())) & (middle < 2)",
    "0 < n < x < y": "(0 < n) & (n < x) & (x < y)",
    "0 < n < 3": "0 < n < 3",
    "i in (0, 2)": "(i == 0) | (i == 2)",
    "i not in [1, -2]": "~((i == 1) | (i == -2))",
    "n in (0, 2)": "n in (0, 2)",
    "x if m.any() else y": "lax.cond(m.any(), lambda: x, lambda: y)",
    "x * 2 if x.mean() > 0 else x": "jnp.where(x.mean() > 0, x * 2, x)",
    "x if x.mean() > 0 else 0.0": "jnp.where(x.mean() > 0, x, 0.0)",
    "x / n if n > 0 else 0.0": "x / n if n > 0 else 0.0",
    "x / y if y > 0 else 0.0": "nn.choose(y > 0, lambda: x / y, lambda: 0.0)",
    "(x, y) if x.sum() > 0 else (y, x)": "lax.cond(x.sum() > 0, lambda: (x, y), lambda: (y, x))",
    "y if u is None else x": "y if u is None else x",
    "max(x.sum(), 0.0)": "nn.python_max(x.sum(), 0.0)",
    "min(n, x)": "jnp.where(x < n, x, n)",
    "max(x, y, n)": "nn.python_max(x, y, n)",
    "max(n, 2)": "max(n, 2)",
    "any(x)": "x.any()",
    "all([x.mean() > 0, flag])": "jnp.array([x.mean() > 0, flag]).all()",
    "max([x, y])": "nn.python_max(x, y)",
    "max(r.sum() for r in x)": "nn.python_max(*(r.sum() for r in x))",
    "[x, y][i]": "jnp.stack([x, y])[i]",
    "math.isnan(x.sum())": "jnp.isnan(x.sum())",
    "math.isclose(x, y)": "jnp.isclose(x, y, rtol=1e-9, atol=0)",
    "math.sqrt(x.sum())": "jnp.sqrt(lax.stop_gradient(x.sum()))",
    "math.floor(x.mean()) + math.log(x.sum(), 2)": (
        "jnp.floor(lax.stop_gradient(x.mean())).astype(int)"
        " + jnp.log(lax.stop_gradient(x.sum())) / jnp.log(2)"
    ),
    "math.sqrt(n)": "math.sqrt(n)",
    "m or 0.5": "jnp.where(m, m, 0.5)",
    "x and y": "lax.cond(x != 0, lambda: y, lambda: x)",
    "flag and x.sum() > 0": "flag and x.sum() > 0",
    "flag or u": "flag or u",
    "print('loss {}', x.sum(), f'{x.mean():.2f} at {n}')": (
        'jax.debug.print("loss {{}} {} {:.2f} at {}", x.sum(), x.mean(), n)'
    ),
    "print('%d of %.2f%% {}' % (n, x.mean()))": (
        'jax.debug.print("{} of {:.2f}% {{}}", n, x.mean())'
    ),
    "print('loss {:.4f}'.format(x.mean()), 'at ' + str(n))": (
        'jax.debug.print("loss {:.4f} at {}", x.mean(), n)'
    ),
    "print('%d' % n)": "print('%d' % n)",
    "print(n)": "print(n)",
    "[self.drop(r) if r.sum() > 0 else r for r in x]": (
        "[lax.cond(r.sum() > 0, lambda: self.drop(r), lambda: r) for r in x]"
    ),
}
TESTS = {
    "flag and x.mean() > 0 and y.mean() > 0": "flag and (x.mean() > 0) & (y.mean() > 0)",
    "x.mean() > 0 and flag or y.mean() > 0": "(flag and x.mean() > 0) | (y.mean() > 0)",
    "(n or x.mean() > 0) and y.mean() > 0": "(bool(n) or x.mean() > 0) & (y.mean() > 0)",
    "x.mean() > 0 and x.ndim == 2": "x.ndim == 2 and x.mean() > 0",
    "not x.sum()": "x.sum() == 0",
    "x.sum() and y.sum()": "(x.sum() != 0) & (y.sum() != 0)",
    "x.sum() > 0 or self.drop(y).sum() > 0": "(x.sum() > 0) | (self.drop(y).sum() > 0)",
    "self.norm(x).any() and y.sum() > 0": "self.norm(x).any() & (y.sum() > 0)",
    "u is not None and u > 2": "u is not None and u > 2",
}
STATEMENTS = {
    "a loop's test is a bool": (
        "while x.sum():\n    x = x - 1",
        "while x.sum() != 0:\n    x = x - 1",
    ),
    "a side that writes": (
        "if x.mean() > 0 and self.norm(x).mean() > 0:\n    return x\nreturn y",
        "test = x.mean() > 0\nif test:\n    test = self.norm(x).mean() > 0\nif test:\n    return x\nreturn y",
    ),
    "a side that writes, in an elif": (
        "if n:\n    return x\nelif x.mean() > 0 or not self.norm(x).any():\n    return x\nreturn y",
        "if n:\n    return x\nelse:\n    test = x.mean() > 0\n    if ~test:\n        test = ~self.norm(x).any()\n    if test:\n        return x\nreturn y",
    ),
    "a side that writes, before a mode": (
        "if self.norm(x).any() and flag:\n    return x\nreturn y",
        "test = self.norm(x).any()\nif test:\n    test = flag\nif test:\n    return x\nreturn y",
    ),
    "the user's test": (
        "test = n\nif x.mean() > 0 and self.norm(x).mean() > test:\n    return x",
        "test = n\ntest_2 = x.mean() > 0\nif test_2:\n    test_2 = self.norm(x).mean() > test\nif test_2:\n    return x",
    ),
    "a choice that writes": (
        "z = self.norm(x) if x.mean() > 0 else x  # why",
        "if x.mean() > 0:\n    z = self.norm(x)\nelse:\n    z = x  # why",
    ),
    "a choice that writes, returned": (
        "return self.norm(x) if x.mean() > 0 else x",
        "if x.mean() > 0:\n    return self.norm(x)\nelse:\n    return x",
    ),
    "a choice that draws, added": (
        "z += self.drop(x) if x.mean() > 0 else x",
        "if x.mean() > 0:\n    z += self.drop(x)\nelse:\n    z += x",
    ),
    "a choice that writes, behind a name": (
        "return x + (self.norm(x) if x.mean() > 0 else x)",
        "if x.mean() > 0:\n    chosen = self.norm(x)\nelse:\n    chosen = x\nreturn x + chosen",
    ),
    "functions": (
        "fs = [jnp.tanh, jnp.sin]\nreturn fs[i](x)",
        "fs = [jnp.tanh, jnp.sin]\nreturn lax.switch(i % 2, fs, x)",
    ),
}
REFUSED = {
    "a test of a loop that writes": "while x.mean() > 0 and self.norm(x).mean() > 0:\n    x = x - 1",
    "a choice that writes, for each": "return [self.norm(r) if r.sum() > 0 else r for r in x]",
    "a choice that writes, behind a call": "return f(x) + (self.norm(x) if x.mean() > 0 else x)",
    "strings": "s = 'a' if x.mean() > 0 else 'b'",
    "an operand that is computed": "z = x.sum() or y",
    "an element that is stored": "parts = [x, y]\nparts[i] = x\nreturn parts[0]",
    "None": "return None if x.mean() > 0 else y",
}


@pytest.mark.parametrize("before", EXPRESSIONS)
def test_expression(before):
    assert function(run, f"return {before}") == (f"return {EXPRESSIONS[before]}", [])


@pytest.mark.parametrize("before", TESTS)
def test_test(before):
    assert function(run, f"if {before}:\n    return x") == (
        f"if {TESTS[before]}:\n    return x",
        [],
    )


@pytest.mark.parametrize("name", STATEMENTS)
def test_statement(name):
    before, after = STATEMENTS[name]
    assert function(run, before) == (after, [])


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    made, found = function(run, REFUSED[name])
    assert found == ["traced-branch"] and "nn.unconverted(" in made


def test_checks_are_left_out():
    made = function(run, "assert (x > 0).all(), 'no'\nassert n > 2\nreturn x")
    assert made == ("assert n > 2\nreturn x", ["data-check"])


def test_a_print_with_options_is_reported():
    assert function(run, "print(x, file=n)") == ("print(x, file=n)", ["traced-branch"])


@pytest.mark.parametrize("stage", ["host", "building", "import"])
def test_what_runs_on_values_stays(stage):
    body = "return x if m.any() and x.mean() > 0 else y"
    assert function(run, body, Facts(stage)) == (body, [])


RUN = [
    "x > 0 and y > 0",
    "x > 0 or not y > 0",
    "flag and x > 0 and y > 0",
    "x > 0 and flag or y > 0",
    "-1 < x < y < 2",
    "x + 1 < y * 2 < n",
    "(x if x > y else y) + 1",
    "x / y if y > 0 else 0.0",
    "x * 2 if not x > 0 else -x",
    "max(x, y, n) - min(x, n)",
    "i in (0, 2) or i not in [1, 2]",
    "bool(x > 0) + int(y) + float(x)",
    "[x, y, x * y][i]",
    "all([x > 0, y > -1, flag]) or any(t > 1 for t in (x, y))",
]


@pytest.mark.parametrize("before", RUN)
def test_runs_under_jit_as_python_does_without(before):
    made, diagnostics = function(run, f"return {before}")
    assert not diagnostics
    names = {"jnp": jnp, "lax": lax, "nn": branching, "bool": bool}
    for seed in range(8):
        x, y = map(float, np.random.RandomState(seed).randn(2))
        i, n, flag = seed % 3, seed % 2, seed % 4 > 1
        scope = {**names, "x": x, "y": y, "i": i, "n": n, "flag": flag}
        wanted = eval(before, scope)

        def jitted(x, y, i, n=n, flag=flag):
            scope = {**names, "x": x, "y": y, "i": i, "n": n, "flag": flag}
            return eval(made.removeprefix("return "), scope)

        got = jax.jit(jitted)(x, y, i)
        np.testing.assert_allclose(np.asarray(got, float), float(wanted), 1e-5, 1e-6)
