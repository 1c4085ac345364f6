"""An element of a tuple that is written in place: the name stands for another tuple then."""

import jax
import pytest

from transpile import convert_source

from ..small_programs import HEAD, compare, load, three

PROGRAMS = {
    "a display": "def f(x, y):\n    p = (x * 1, y * 2)\n    p[0].zero_()\n    p[1][0] = 3\n    return p[0] + p[1]",
    "in a loop": "def f(x, y):\n    p = (x * 2, y * 2)\n    for i in range(3):\n        p[0].mul_(i + 1)\n    return p[0] + p[1]",
}
REFUSED = {
    "another name": "def f(x, y):\n    p = (x * 1, y * 2)\n    q = p\n    p[0].zero_()\n    return q[0] + p[1]",
    "at a place not known": "def f(x, y):\n    p = (x * 1, y * 2)\n    for i in range(2):\n        p[i].mul_(2)\n    return p[0] + p[1]",
    "what is gone over": "def f(x, y):\n    p = (x * 1, y * 2)\n    s = x * 0\n    for t in p:\n        p[1].zero_()\n        s = s + t\n    return s + p[1]",
    "the caller's": "def f(x, y):\n    p = x * 2, y\n    p[1].mul_(2)\n    return p[0] * p[1] + y",
    "views of another": "def f(x, y):\n    z = x * 2\n    p = z.unbind(0)\n    p[1].zero_()\n    return z + y",
    "given": "def g(p):\n    p[0].zero_()\n\n\ndef f(x, y):\n    p = (x * 1, y * 2)\n    g(p)\n    return p[0] + p[1]",
}  # fmt: skip


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_tuple_that_one_name_has(name):
    compare(PROGRAMS[name], three())


@pytest.mark.parametrize("name", REFUSED)
def test_a_tuple_that_others_may_have_is_refused(name):
    result = convert_source(HEAD + REFUSED[name] + "\n")
    assert "aliased-write" in {d.id for d in result.diagnostics}, result.code
    x, y = jax.numpy.ones((2, 3, 4))
    with pytest.raises(NotImplementedError, match="aliased-write"):
        load(result)["f"](x, y)
