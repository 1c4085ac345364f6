"""What may be computed though it is not asked for."""

from pathlib import PurePosixPath

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from tests.passes.exits_helper import PARAMETERS, evaluated
from transpile.facts.totality import _ARRAYS, _FUNCTIONS, _LAX, Totality
from transpile.model.effects import Effects, Write
from transpile.model.program import Function
from transpile.source.lower import lower

TOTAL = [
    "x * 2 - y @ x",
    "x / 2 + x ** 2",
    "jnp.tanh(x).mean()",
    "jax.nn.softmax(x, axis=-1)",
    "jnp.where(m, x, y)",
    "lax.stop_gradient(x)",
    "x[i] if flag else y",
    "x.reshape(2, -1).sum(axis=0) > n",
    "[x, y]",
    "x.at[i].set(y)",
    "self.drop(x)",
]
PARTIAL = [
    "x / y",
    "x / n",
    "x // n",
    "x ** 0.5",
    "x ** -1",
    "jnp.sqrt(x)",
    "jnp.exp(x)",
    "jnp.log(x) + 1",
    "jnp.where(m, x, -jnp.inf)",
    "jnp.where(m, x, 1e999)",
    "jnp.linalg.norm(x)",
    "x.std()",
    "f(x)",
    "self.norm(x)",
    "lax.while_loop(f, f, x)",
    "nn.unconverted(x)",
]
BLOCKS = {
    "z = x * 2\nz += y\nreturn z": True,
    "for _ in range(n):\n    x = jnp.tanh(x)\nreturn x": True,
    "if flag:\n    x = -x\nelse:\n    pass": True,
    "a, b = x, y": True,
    "x /= y": False,
    "self.h = x": False,
    "x[0] = y": False,
    "raise ValueError": False,
    "assert flag": False,
    "while flag:\n    x = -x": False,
    "with u:\n    x = -x": False,
    "def g():\n    return x": False,
}


class Running:
    """What calls run: the function of their name, or all that are given."""

    def __init__(self, functions):
        self.functions = functions

    def targets(self, call):
        named = isinstance(self.functions, dict)
        found = [self.functions[call.function.id]] if named else self.functions
        return [(function, None) for function in found]

    def of_call(self, call):
        return Effects()


def body(text):
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    file = lower(f"def f({PARAMETERS}):\n{lines}", PurePosixPath("m.py"))
    evaluated(file)
    return next(file.functions()).body


@pytest.mark.parametrize("text", [*TOTAL, *PARTIAL])
def test_expression(text):
    statement = body(f"return {text}").body[0]
    known = Totality(Running([_total()]) if text == "self.drop(x)" else None)
    assert known.total(statement) == (text in TOTAL)


def _total():
    return next(lower("def f(x):\n    return x * 2\n", PurePosixPath("m.py")).functions())


@pytest.mark.parametrize("text", BLOCKS)
def test_block(text):
    assert Totality().total(body(text)) == BLOCKS[text]


def test_functions_of_the_user():
    file = lower(
        "def f(x):\n    return x * 2\n\n\ndef g(x):\n    return f(x) + h(x)\n\n\ndef h(x):\n    return h(x)\n",
        PurePosixPath("m.py"),
    )
    functions = {f.name: f for f in file.functions()}
    known = Totality(Running(functions))
    found = {name: known.function(f) for name, f in functions.items()}
    assert found == {"f": True, "g": False, "h": False}
    assert isinstance(functions["f"], Function) and Write not in {type(n) for n in file.walk()}


# values at which what is not total shows: roots, poles, corners, and what is large
POINTS = [-90.0, -1.0, 0.0, 1.0, 90.0]
UNARY = {
    "jnp": """abs ceil copy cos cumsum flip floor isfinite isinf isnan max mean min negative ravel round
        sign sin sinc sort sum tanh transpose trunc""".split(),
    "jax.nn": """celu elu gelu hard_sigmoid hard_silu hard_tanh leaky_relu log_sigmoid log_softmax relu
        relu6 selu sigmoid silu soft_sign softmax softplus squareplus mish logsumexp""".split(),
    "lax": "abs ceil cos floor logistic neg round sign sin tanh".split(),
}


@pytest.mark.parametrize("name", [f"{m}.{n}" for m, names in UNARY.items() for n in names])
def test_what_is_marked_has_values_and_slopes(name):
    table = {"jnp": _ARRAYS, "jax.nn": _FUNCTIONS, "lax": _LAX}[name.rpartition(".")[0]]
    assert name.rpartition(".")[2] in table
    function = eval(name, {"jnp": jnp, "jax": jax, "lax": lax})
    for point in POINTS:
        x = jnp.array([point, point / 2])
        y = function(x)
        slope = jax.grad(lambda x: function(x).astype(float).sum())(x)
        assert jnp.isfinite(jnp.asarray(y, float)).all() and jnp.isfinite(slope).all(), point
