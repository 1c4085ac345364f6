"""Each count of `benchmarks/taste.py` on hand-written files: 1 where 1 stands, 0 where 0 stands."""

import pytest

from benchmarks import taste, taste_counts
from benchmarks.taste_classes import Classes, Pair

NORM = """
class Norm(nn.Module):
    def init_state(self, key):
        return {"mean": jnp.zeros(())}
    def __call__(self, state, x):
        return x, state
"""
STATE = """
class Block(nn.Module):
    def __init__(self):
        self.inner = {inner}
    def __call__(self, state, x):
        return self.inner(state, x)
"""

# what counts, the source, output with one, output with none
TABLE = [
    ("needless_state", "", NORM + STATE.format(inner="Plain()"), NORM + STATE.format(inner="Norm()")),
    (
        "needless_state",
        "",
        NORM + STATE.format(inner="fn") + "block = Block(nn.GELU())",
        NORM + STATE.format(inner="fn") + "block = Block(Norm())",
    ),
    ("dead_parameters", "", "def f(x, key): return x", "def f(x, key): return jax.random.normal(key)"),
    ("dead_parameters", "", "def f(x, key): return x", "def f(x, key): raise NotImplementedError"),
    ("dead_parameters", "def f(x, device): return x.to(device)", "def f(x, device): return x", "def f(x): return x"),
    ("dead_parameters", "def f(x, device): return x", "def f(x, device, key): return x", "def f(x, device): return x"),
    (
        "dead_parameters",
        "",
        "class A:\n    def f(self, params): return 1",
        "class A:\n    def f(self, params): return 1\nclass B(A):\n    def f(self, params): return params",
    ),
    (
        "dead_parameters",
        "",
        "class A(Z):\n    def f(self, params): return 1\nclass B(Z):\n    def f(self, params): return params",
        "class Z:\n    def f(self, params): raise NotImplementedError\n"
        "class A(Z):\n    def f(self, params): return 1\nclass B(Z):\n    def f(self, params): return params",
    ),
    ("uniform_calls", "", 'y, s = layer.apply(params["a"], state, x)', 'y = layer(params["a"], x)'),
    ("uniform_calls", "", "y, state = nn.call(self.f, x, state=state)", "jax.tree.map(f, x); frame.apply(f, 1)"),
    (
        "costly_properties",
        "",
        "class A:\n    @property\n    def m(self):\n        a = jnp.ones(3)\n        return a",
        "class A:\n    @property\n    def m(self):\n        return jnp.tril(jnp.ones((3, 3)))",
    ),
    (
        "costly_properties",
        "class A:\n    @property\n    def n(self):\n        a = 1\n        return a",
        "class A:\n    @property\n    def m(self):\n        return [f(i) for i in x]",
        "class A:\n    @property\n    def n(self):\n        a = 1\n        return a",
    ),
    ("helper_calls", "", "nn.chunk(x, 3)", "jnp.split(x, 3)"),
    ("numbered_names", "x_1 = 1", "x_1 = 1\nx_2 = x_2", "x_1 = 1\nconv2 = x2"),
    ("comments_lost", "a = 1  # one\nb = 2  # two", "a = 1  # one", "b = 3  # two\n# a = 1  # one"),
    ("formatted_lines", "f(a,b)", "f(a, b)", "g(a, b)"),
    ("formatted_lines", "x = 'a'", 'x = "a"', "x = 'a'"),
    ("formatted_lines", "f(a, b)\ng(x)", "f(a, b,)\ng(x)", "if c:\n    f(a, b)\ng(x)"),
    ("long_lines", f"x = {'1' * 130}", f"x = {'2' * 130}", f"if a:\n    x = {'1' * 130}"),
]


@pytest.mark.parametrize("name, source, one, none", TABLE)
def test_counts(name, source, one, none):
    count = getattr(taste_counts, name)
    for output, expected in ((one, 1), (none, 0)):
        pair = Pair("module.py", "functional", source, output)
        given = (pair, Classes([pair])) if count in taste.ASK_CLASSES else (pair,)
        assert len(list(count(*given))) == expected, output


def test_a_protocol_asks_for_what_is_not_read():
    text = "class A:\n    def init(self, key): return {}\n    def __call__(self, x, *, key=None): return x"
    for target, names in (("functional", [".A.__call__(key)"]), ("equinox", [".A.init(key)"])):
        pair = Pair("module.py", target, "", text)
        assert [what for _, what in taste_counts.dead_parameters(pair, Classes([pair]))] == names


def test_unused_definitions():
    support = "def a(): return b()\ndef b(): return 1\ndef c(): return b()\nclass D: pass"
    assert taste.unused(support, [Pair("m.py", "flax", "", "nn.a()")]) == ["D", "c"]


def test_classes_of_modules():
    text = "class A(nn.Module): pass\nclass B(A): pass\nclass C: pass"
    assert taste.module_classes([Pair("m.py", "flax", text, "")]) == 2
