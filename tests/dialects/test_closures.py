"""Branches and loops on data as functions: before, after, and both run."""

import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from transpile.dialects.closures import Closures
from transpile.model.control_flow import Cond, Loop, Repeat, Scan
from transpile.source.splice import write

from .programs import controlled, fresh_in, program

CASES = {
    "one side": (
        """
        def f(x):
            if x.sum() > 0:
                x = x * 2
                x = x + 1
            return x
        """,
        """
        def f(x):
            def then(x):
                x = x * 2
                x = x + 1
                return x
            x = lax.cond(x.sum() > 0, then, lambda x: x, x)
            return x
        """,
    ),
    "two short sides": (
        """
        def f(x):
            if x.sum() > 0:
                y = x * 2
            else:
                y = x / 3
            return y + x
        """,
        """
        def f(x):
            y = lax.cond(x.sum() > 0, lambda: x * 2, lambda: x / 3)
            return y + x
        """,
    ),
    "several names, a temporary": (
        """
        def f(x):
            then = 0 * x
            y = x
            if x.sum() > 0:
                t = x * 2
                # kept
                x = t + y  # behind
                y = x
            return x + y + then
        """,
        """
        def f(x):
            then = 0 * x
            y = x
            def then_(x, y):
                t = x * 2
                # kept
                x = t + y  # behind
                y = x
                return x, y
            x, y = lax.cond(x.sum() > 0, then_, lambda x, y: (x, y), x, y)
            return x + y + then
        """,
    ),
    "returns": (
        """
        def f(x):
            if x.sum() > 0:
                return x * 2
            else:
                x = x + 1
                return x / 3
        """,
        """
        def f(x):
            def otherwise(x):
                x = x + 1
                return x / 3
            return lax.cond(x.sum() > 0, lambda x: x * 2, otherwise, x)
        """,
    ),
    "a loop that data end": (
        """
        def f(x):
            n = 0
            while x.sum() < 100:
                x = x * 2 + 1
                n = n + 1
            return x * n
        """,
        """
        def f(x):
            n = 0
            def condition(carry):
                x, n = carry
                return x.sum() < 100
            def body(carry):
                x, n = carry
                x = x * 2 + 1
                n = n + 1
                return x, n
            x, n = lax.while_loop(condition, body, (x, n))
            return x * n
        """,
    ),
    "one name": (
        """
        def f(x):
            while x.sum() < 100:
                x = x * 2 + 1
            return x
        """,
        """
        def f(x):
            def body(x):
                x = x * 2 + 1
                return x
            x = lax.while_loop(lambda x: x.sum() < 100, body, x)
            return x
        """,
    ),
    "rows": (
        """
        def f(x):
            h = x[0]
            rows = []
            for xt in x:
                h = jnp.tanh(h + xt)
                rows.append(h)
            return rows
        """,
        """
        def f(x):
            h = x[0]
            rows = []
            def step(h, xt):
                h = jnp.tanh(h + xt)
                return h, h
            h, rows = lax.scan(step, h, x)
            return rows
        """,
    ),
    "counted": (
        """
        def f(x):
            h = x
            for i in range(4):
                h = h + i * x
                x = h
            return h
        """,
        """
        def f(x):
            h = x
            def step(carry, i):
                h, x = carry
                h = h + i * x
                x = h
                return (h, x), None
            (h, x), _ = lax.scan(step, (h, x), jnp.arange(4))
            return h
        """,
    ),
    "turns alone": (
        """
        def f(x):
            for _ in range(4):
                x = jnp.sin(x)
            return x
        """,
        """
        def f(x):
            def step(x, _):
                x = jnp.sin(x)
                return x, None
            x, _ = lax.scan(step, x, length=4)
            return x
        """,
    ),
    "nested": (
        """
        def f(x):
            for i, xt in enumerate(x):
                if xt.sum() > 0:
                    x = x + i
            return x
        """,
        """
        def f(x):
            def step(x_, inputs):
                pass
        """,
    ),
    "turns by data": (
        """
        def f(x):
            h = x
            for i in trange(x.astype(int).max()):
                h = h + i
            return h
        """,
        """
        def f(x):
            h = x
            def body(i, h):
                h = h + i
                return h
            h = lax.fori_loop(0, x.astype(int).max(), body, h)
            return h
        """,
    ),
}
CASES["nested"] = (
    CASES["nested"][0],
    """
    def f(x):
        def step(x, inputs):
            i, xt = inputs
            x = lax.cond(xt.sum() > 0, lambda x: x + i, lambda x: x, x)
            return x, None
        x, _ = lax.scan(step, x, (jnp.arange(len(x)), x))
        return x
    """,
)

TOTAL = {
    "one name": (
        """
        def f(x):
            if x.sum() > 0:
                x = x * 2
            return x
        """,
        """
        def f(x):
            x = jnp.where(x.sum() > 0, x * 2, x)
            return x
        """,
    ),
    "the test is among them": (
        """
        def f(x):
            running = x.sum() > -1
            if running:
                x = x * 2
                x = x + 1
                running = x.sum() > 0
            return x + running
        """,
        """
        def f(x):
            running = x.sum() > -1
            new_x = x * 2
            new_x = new_x + 1
            new_running = new_x.sum() > 0
            x = jnp.where(running, new_x, x)
            running = running & new_running
            return x + running
        """,
    ),
}


def lowered(text, total=False):
    file = program(textwrap.dedent(text).lstrip())
    function = next(file.functions())
    controlled(function, total=total)
    closures = Closures(fresh_in(function))
    for node in reversed(list(function.nodes(Cond, Loop, Repeat, Scan))):
        make = {
            Cond: closures.cond,
            Loop: closures.loop,
            Repeat: closures.repeated,
            Scan: closures.scanned,
        }
        node.parent.substitute(node, make[type(node)](node))
    return write(file)


def run(code, x):
    names = {"jnp": jnp, "lax": lax, "trange": lambda n: range(int(n))}
    exec(code, names)
    return names["f"](x) if "trange" in code else jax.jit(names["f"])(x)


def eager(code, x):
    names = {"jnp": jnp, "trange": lambda n: range(int(n))}
    exec(code, names)
    return names["f"](x)


@pytest.mark.parametrize("name, total", [*((n, False) for n in CASES), *((n, True) for n in TOTAL)])
def test_before_and_after(name, total):
    before, after = (TOTAL if total else CASES)[name]
    before, after = (textwrap.dedent(text).lstrip() for text in (before, after))
    assert lowered(before, total) == after
    for x in (jnp.arange(6.0).reshape(2, 3), -jnp.ones((2, 3))):
        if x.sum() < 0 and "100" in before:
            continue
        np.testing.assert_allclose(run(after, x), jnp.asarray(eager(before, x)), rtol=1e-6)
