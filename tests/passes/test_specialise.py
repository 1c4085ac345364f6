"""Which way a rule takes with what is known at a call."""

import ast
from pathlib import Path

import pytest

from transpile.facts.values.lattice import MISSING, NONE, UNKNOWN, Sequence, Static, Tensor
from transpile.model.rulebook import Definition
from transpile.passes.operations.bind import Argument, bind
from transpile.passes.operations.literals import UNDECIDED, known
from transpile.passes.operations.specialise import Refused, Specialised
from transpile.source.lower_ast import expression
from transpile.source.splice import show

INT = Static(MISSING, "int")


def rule(text):
    node = ast.parse(text).body[0]
    made = Definition(node.name, False, (1, node.end_lineno), Path("a.py"), text, ("torch.f",))
    made.__dict__["node"] = node
    return made


def argument(text, value=None):
    node = expression(text)
    node.value = value
    return Argument(node, known(node))


def test_of(test, parameters, **given):
    definition = rule(f"def f({parameters}):\n    if {test}:\n        return 1\n    return 0\n")
    arguments = [argument(*v) if isinstance(v, tuple) else argument(v) for v in given.values()]
    binding = bind(definition, arguments)
    return Specialised(binding).truth(expression(test))


test_of.__test__ = False
ROWS = [
    ("dim == 0", "dim", {"dim": "0"}, True),
    ("dim == 0", "dim", {"dim": "-1"}, False),
    ("dim == 0", "dim", {"dim": ("n", INT)}, UNDECIDED),
    ("a == 0 and b", "a, b=True", {"a": "1"}, False),
    ("a == 0 or b", "a, b=True", {"a": ("n", INT)}, True),
    ("not b", "b=False", {}, True),
    ("m is None", "m=None", {}, True),
    ("m is None", "m=None", {"m": ("x", Tensor())}, False),
    ("m is None", "m=None", {"m": ("x", Tensor(none=True))}, UNDECIDED),
    ("m is not None", "m=None", {"m": ("x", NONE)}, False),
    ("m is None", "m=None", {"m": ("x", UNKNOWN)}, UNDECIDED),
    ("isinstance(v, float)", "v", {"v": "1.0"}, True),
    ("isinstance(v, int)", "v", {"v": ("n", INT)}, True),
    ("isinstance(v, int)", "v", {"v": ("n", Static(MISSING, "int", loose=True))}, UNDECIDED),
    ("isinstance(v, (tuple, list))", "v", {"v": ("s", Sequence(INT))}, True),
    ("isinstance(v, jax.Array)", "v", {"v": ("x", Tensor())}, True),
    ("isinstance(v, int)", "v", {"v": ("x", Tensor(assumed=True))}, UNDECIDED),
    ("known(x.ndim > 0)", "x", {"x": ("x", Tensor())}, False),
    ("x.ndim > 0", "x", {"x": ("x", Tensor(dims=2))}, True),
    ("jnp.issubdtype(x.dtype, jnp.integer)", "x", {"x": ("x", Tensor(kind="i"))}, True),
    ("jnp.issubdtype(x.dtype, jnp.floating)", "x", {"x": ("x", Tensor())}, UNDECIDED),
    ("certain(isinstance(v, int))", "v", {"v": ("n", Static(MISSING, "int", True))}, UNDECIDED),
    ("len(s) == 2", "*s", {"a": "1", "b": "2"}, True),
    ("len(s) == 2", "*s", {"a": ("x.shape", Static(MISSING, "shape"))}, UNDECIDED),
    ("s", "*s", {}, False),
    ("mode in ('sum', 'mean')", "mode", {"mode": "'sum'"}, True),
]


@pytest.mark.parametrize(("test", "parameters", "given", "truth"), ROWS)
def test_truth(test, parameters, given, truth):
    assert test_of(test, parameters, **given) is truth


BODY = """def f(x, dim=None):
    if dim is None:
        return x.sum()
    if dim == 0:
        raise Unsupported("no dim 0")
    return x.sum(axis=dim)
"""


def result(*arguments):
    found = Specialised(bind(rule(BODY), [argument(a) for a in arguments])).result()
    return None if found is None else show(found)


def test_the_one_expression_that_is_returned():
    assert result("x") == "x.sum()"
    assert result("x", "1") == "x.sum(axis=dim)"


def test_what_is_not_decided_has_none():
    assert result("x", "n") is None


def test_a_branch_that_is_not_supported_says_why():
    with pytest.raises(Refused, match="no dim 0"):
        result("x", "0")
