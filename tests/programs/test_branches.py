"""Branches on data in all their forms: each program over inputs that take different sides."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from tests.small_programs import HEAD, both_modules, compare, three
from transpile import convert_source

pytestmark = pytest.mark.usefixtures("wide")

# name -> body of `def f(x, y)`, or definitions that end in an `f`
PROGRAMS = {
    "one side, never read after": "if x.mean() > 0:\n    t = x * 2\n    y = y + t\nreturn y",
    "one side, set again before read": "if x.mean() > 0:\n    t = x * 2\n    y = y + t\nt = y * 1\nreturn t + x",
    "one side then the other returns": "if x.mean() > 0:\n    z = x * 2\nelse:\n    return y\nreturn z + y",
    "one side, other sets it too in elif": "if x.mean() > 1:\n    z = x\nelif x.mean() > 0:\n    z = y\nelse:\n    return x * y\nreturn z + 1",
    "set twice on one side": "z = y * 1\nif x.mean() > 0:\n    z = x + 1\n    z = z * 2\nreturn z",
    "return in a for": "for i in range(3):\n    x = x * 0.5\n    if x.norm() < 1:\n        return x\nreturn y",
    "return in a for of a row": "for row in x:\n    if row.sum() > 1:\n        return row * 2\nreturn y[0]",
    "return in a for with more after": "for i in range(3):\n    x = x * 0.5\n    if x.norm() < 1:\n        return x\nz = x + y\nreturn z * 2",
    "return in a while": "n = 0\nwhile x.norm() > 1:\n    x = x * 0.5\n    n += 1\n    if n > 1:\n        return x + 1\nreturn x - 1",
    "return in a nested for": "for i in range(2):\n    for j in range(2):\n        x = x * 0.6\n        if x.norm() < 2:\n            return x + i + j\nreturn x - y",
    "two returns in a for": "for i in range(3):\n    x = x * 0.5\n    if x.norm() < 1:\n        return x\n    if y.mean() > x.mean():\n        return y\nreturn x - y",
    "return of a tuple in a for": "for i in range(3):\n    x = x * 0.5\n    if x.norm() < 1:\n        return x, i\nreturn y, 3",
    "three nested": "z = x\nif x.mean() > 0:\n    if y.mean() > 0:\n        if x.mean() > y.mean():\n            z = x - y\n        else:\n            z = y - x\nreturn z * 2",
    "early returns in nested branches": "if x.mean() > 0:\n    if y.mean() > 1:\n        return x\n    if y.mean() > 0:\n        return y\n    z = x * y\nelse:\n    if y.mean() < -1:\n        return x + y\n    z = x - y\nreturn z * 2",
    "elif chain on an index": "i = int((x > 0).sum()) % 4\nif i == 0:\n    z = x\nelif i == 1:\n    z = y\nelif i == 2:\n    z = x + y\nelse:\n    z = x * y\nreturn z",
    "elif chain returns": "i = x.mean(1).argmax()\nif i == 0:\n    return x\nelif i == 1:\n    return y\nelif i == 2:\n    return x + y\nreturn x * y",
    "list of functions by index": "i = int((x > 0).sum()) % 3\nfs = [torch.tanh, torch.sin, torch.exp]\nreturn fs[i](y)",
    "list of tensors by index": "i = int((x > 0).sum()) % 2\nparts = [x, y]\nreturn parts[i] * 2",
    "in a tuple": "i = (x > 0).sum() % 3\nif i in (0, 2):\n    return x\nreturn y",
    "assignment of a tuple on both sides": "if x.mean() > 0:\n    a, b = x, y\nelse:\n    a, b = y, x\nreturn a * 2 + b",
    "branch in a helper with two results": "def g(t):\n    if t.mean() > 0:\n        return t, t.sum()\n    return -t, t.mean()\na, b = g(x)\nreturn a * b + y",
    "branch with a list on both sides": "if x.mean() > 0:\n    parts = [x, y]\nelse:\n    parts = [y, x]\nreturn torch.cat(parts)",
    "branch with a dict on both sides": "if x.mean() > 0:\n    d = {'a': x, 'b': y}\nelse:\n    d = {'a': y, 'b': x}\nreturn d['a'] - 2 * d['b']",
    "branch on a flag from a helper": "def big(t):\n    return t.abs().mean() > 1\nif big(x) and not big(y):\n    return x\nreturn y",
    "flag by hand": "flag = False\nfor row in x:\n    if row.sum() > 2:\n        flag = True\nif flag:\n    return x\nreturn y",
    "number on one side, int on the other": "if x.mean() > 0:\n    k = 2\nelse:\n    k = 0.5\nreturn x * k",
    "bool results": "if x.mean() > 0:\n    ok = True\nelse:\n    ok = y.mean() > 0\nreturn torch.where(torch.as_tensor(ok), x, y)",
    "masks on one side": "m = x > 0\nif x.mean() > 0:\n    m = m & (y > 0)\nreturn torch.where(m, x, y)",
    "dtype on one side": "z = (x > 0)\nif y.mean() > 0:\n    z = z.to(x.dtype) * 0.5\nreturn z * y",
    "pass": "if x.mean() > 0:\n    pass\nelse:\n    y = y * 2\nreturn y",
    "empty else": "if x.mean() > 0:\n    y = y * 2\nelse:\n    pass\nreturn y",
    "continue in an else": "z = y * 1\nfor row in x:\n    if row.sum() > 0:\n        z = z + row\n    else:\n        continue\n    z = z * 0.5\nreturn z",
    "walrus in a comparison": "if (m := (x * 0).abs().sum() + x.norm()) > 1:\n    return x * m + (x * 0).abs()\nreturn y * m",
    "norms in comparisons": "k = (x.norm(2, 1, keepdim=True) > y.detach().norm(dim=-1, keepdim=True)).sum() + (x.norm(p=1) > y.norm(dtype=torch.float64))\nreturn x * k if x.norm('nuc') > y.norm() else y",
    "walrus on data": "if (m := x.mean()) > 0:\n    return x * m\nreturn y * m",
    "comparison with None and data": "def g(t, m=None):\n    if m is not None and m.mean() > 0:\n        return t * m\n    return t\nreturn g(x, y) + g(x)",
    "not None and data, else": "def g(t, m=None):\n    if m is not None and m.mean() > 0:\n        z = t * m\n    else:\n        z = t + 1\n    return z * 2\nreturn g(x, y) + g(x)",
    "not None and data, both return": "def g(t, m=None):\n    if m is not None and m.mean() > 0:\n        return (t * m).sum()\n    else:\n        assert t.numel() != 0\n        return t.sum()\nreturn g(x, y) + g(x)",
    "not None and data, elif": "def g(t, m=None):\n    if m is not None and m.mean() > 0:\n        z = t * m\n    elif t.mean() > 0:\n        z = t + 1\n    else:\n        z = t\n    return z * 2\nreturn g(x, y) + g(x)",
    "None or data": "def g(t, m=None):\n    if m is None or m.mean() > 0:\n        z = t + 1\n    else:\n        z = t * m\n    return z * 2\nreturn g(x, y) + g(x)",
    "None or data, with a return": "def g(t, m=None):\n    if m is None or m.mean() > 0:\n        return t.sum()\n    z = t * m\n    return z.sum()\nreturn g(x, y) + g(x)",
    "any of a generator": "if any(row.sum() > 3 for row in x):\n    return x\nreturn y",
    "all of a list": "if all([x.mean() > 0, y.mean() > 0]):\n    return x\nreturn y",
    "builtin any of a tensor": "def f(x: torch.Tensor, y: torch.Tensor):\n    if any(x[0] > 1):\n        return x\n    return y\n",
    "builtin max of rows": "def f(x: torch.Tensor, y: torch.Tensor):\n    return max(x[0]) + min(y[0])\n",
    "builtin sum of a tensor": "return sum(x) * y[0]",
    "builtin abs and round": "return abs(x) + round(2.6) * y",
    "sorted values of a tensor": "return sum(sorted([x.mean(), y.mean()], key=lambda t: 1)) + x",
    "bool of an item": "b = bool((x > 0).all())\nreturn x if b else y",
    "conditional expression of numbers": "k = 1 if x.mean() > 0 else -1\nreturn x * k",
    "conditional expression nested": "z = x if x.mean() > 0.5 else y if y.mean() > 0 else x * y\nreturn z + 1",
    "conditional in a comprehension": "return torch.stack([r if r.sum() > 0 else -r for r in x]) + y",
    "and of operands": "m = (x.mean() > 0) and (y.mean() > 0)\nreturn torch.where(m, x, y)",
    "or in a while": "n = 0\nwhile x.norm() > 2 or n < 1:\n    x = x * 0.5\n    n += 1\nreturn x",
    "not equal": "if x.argmax() != y.argmax():\n    return x - y\nreturn x + y",
    "is_nonzero": "if torch.is_nonzero((x > 0).sum()):\n    return x * 2\nreturn y",
    "numel of a mask": "k = (x > 0).sum().item()\nreturn x * k / x.numel() + y",
    "exception for a value": "try:\n    z = x / y.abs().clamp(min=0.1)\nexcept ZeroDivisionError:\n    z = x\nreturn z",
    "try around a branch": "try:\n    if x.mean() > 0:\n        z = x\n    else:\n        z = y\nfinally:\n    k = 2\nreturn z * k",
    "with around a branch": "with torch.autograd.set_detect_anomaly(False):\n    if x.mean() > 0:\n        return x\nreturn y",
    "clip by norm": "n = x.norm()\nif n > 1.0:\n    x = x / n\nreturn x * y",
    "tuples of numbers": "if x.sum() > 0:\n    z = x.mean(), 0\nelse:\n    z = y.mean(), 1.5\nreturn z[0] * x * z[1]",
    "nan guard": "z = torch.log(x.abs() + 1)\nif torch.isnan(z).any() or torch.isinf(z).any():\n    z = torch.zeros_like(z)\nreturn z + y",
    "match on a tensor": "k = x.dim()\nmatch k:\n    case 2:\n        z = x\n    case _:\n        z = y\nreturn z * 2",
    "return None on one side of config": "def g(t, flag):\n    if flag:\n        return None\n    return t * 2\nr = g(x, False)\nreturn r if r is not None else y",
    "nested function under a branch": "if x.mean() > 0:\n    def g(t):\n        return t * 2\n    z = g(x)\nelse:\n    z = y\nreturn z",
    "branch on two tensors in turn": "a = x.max()\nb = y.max()\nbest = x\nif b > a:\n    best = y\n    a = b\nreturn best * a",
    "set on one side, read where the other has left": "if x.mean() > 0:\n    z = x * 2\nelif y.mean() > 0:\n    return y\nelse:\n    return y * 2\nreturn z + y",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name], three())


REACHED = """class M(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.register_buffer("stage", torch.zeros(1))

    def reached(self, stage):
        self.stage += 1
        return (self.stage > stage).all()

    def forward(self, x):
        delta = 0
        if not self.reached(1):
            delta = self.n // 4
        if delta > 0:
            x = x * delta
        return x
"""


def test_a_flag_of_a_method_that_sets_state():
    """What is taken out of the test keeps its value, and a number that it sets from what is not known is data."""
    source = HEAD + REACHED
    result = convert_source(source)
    assert not result.diagnostics, result.code
    torch_module, module = both_modules(source, result, 8)
    x, state, run = torch.ones(3), module.init_state(None), jax.jit(module.__call__)
    for _ in range(3):
        got, state = run(state, jnp.asarray(x.numpy()))
        np.testing.assert_allclose(got, torch_module(x).numpy())


@pytest.mark.parametrize("sides", [("y.mean()", "x.new(1).zero_()"), ("x.new_ones(1)", "y.mean()")])
def test_sides_of_one_element_have_the_lower_rank(sides):
    """Torch's value has the rank of the side that ran."""
    source = HEAD + "class M(nn.Module):\n    def forward(self, x, y):\n        if x.sum() > 0:\n            loss = {}\n        else:\n            loss = {}\n        return loss\n".format(*sides)
    theirs, ours = both_modules(source, convert_source(source))
    for inputs in three():
        got = jax.jit(ours.__call__)(*(jnp.asarray(x.numpy()) for x in inputs))
        assert got.shape == ()
        np.testing.assert_allclose(got, float(theirs(*inputs)))


@pytest.mark.parametrize("program", ["y = x.sum(0, keepdim=True)", "y = x[:, :1]"])
def test_sides_of_other_shapes_are_told(program):
    source = HEAD + f"class M(nn.Module):\n    def forward(self, x, y):\n        if x.sum() > 0:\n            {program}\n        return y\n"
    _, ours = both_modules(source, convert_source(source))
    x = jnp.ones((3, 4))
    with pytest.raises((ValueError, TypeError)):
        ours(x, x)


@pytest.mark.parametrize("sides", [("x.mean()", "0"), ("1", "x.mean()"), ("x.argmax()", "x.mean()")])
def test_state_of_two_types(sides):
    """A number, or integers, on one side and floats on the other: both become what holds either."""
    source = HEAD + """class M(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            self.loss = {}
        else:
            self.loss = {}
        return self.loss * 2
""".format(*sides)
    result = convert_source(source)
    assert not result.diagnostics, result.code
    torch_module, module = both_modules(source, result)
    for x in (torch.tensor([3.0, -1.0]), torch.tensor([-3.0, 1.0])):
        got, _ = jax.jit(module.__call__)(module.init_state(None), jnp.asarray(x.numpy()))
        np.testing.assert_allclose(got, float(torch_module(x)))


BEGUN = """class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.sum = None

    def start(self, x):
        self.sum = torch.zeros(x.size(0))

    def forward(self, x, t):
        {before}
        if t.sum() == 0:
            {then}
        self.sum = x.mean(1) + self.sum
        return self.sum
"""


@pytest.mark.parametrize("then", ["self.start(x)", "self.sum = torch.zeros(x.size(0))"])
def test_state_that_one_side_begins(then):
    """`lax.cond` cannot give None on one side: it stays Python's, for what is known when the model is traced."""
    diagnostics = convert_source(HEAD + BEGUN.format(before="x = x * 2", then=then)).diagnostics
    assert [d.id for d in diagnostics] == ["traced-branch"] and "self.sum is None" in diagnostics[0].message
    assert not convert_source(HEAD + BEGUN.format(before="self.sum = x.sum(1)", then=then)).diagnostics
    assert not convert_source(HEAD + BEGUN.replace("self.sum = None", 'self.register_buffer("sum", torch.zeros(3))').format(before="x = x * 2", then=then)).diagnostics
    chosen = BEGUN.replace("self.sum = None", "self.sum = torch.zeros(n) if n else None").replace("__init__(self)", "__init__(self, n)")
    assert not convert_source(HEAD + chosen.format(before="x = x * 2", then=then)).diagnostics


SAME = """def f(x, y):
    same = torch.equal(x, y) and torch.equal(y, y * 1)
    if same:
        a, b = (x * 2).chunk(2)
    elif not torch.equal(x, y):
        a, b = x + 1, y - 1
    else:
        a, b = x, y
    return a, b
"""
RETURNED = """def f(x, y):
    if torch.equal(x, y):
        return x
    return torch.cat((x, y)) * 2
"""


@pytest.mark.parametrize("body", [SAME, RETURNED])
def test_arrays_of_other_shapes_are_not_equal(body):
    """Their shapes choose the way, so that the sides may give other shapes."""
    compare(body, [[torch.randn(4, 3), torch.randn(6, 3)]])


def test_arrays_of_one_shape_are_compared():
    same = torch.randn(4, 3)
    compare("if torch.equal(x, y) and torch.equal(y, x * 1):\n    x = x * 2\nreturn x, torch.equal(x, y)", [[same, same], [same, same + 1]])


def test_a_side_as_long_as_the_data_say_is_left_to_python():
    body = "        k = x.shape[0] // (1 + x.abs().sum(1).argmax())\n        n = x.shape[0]\n        if n % k != 0:\n            m = (n // k + 1) * k\n            out = torch.cat([x, torch.zeros(m - n, 6)])\n        else:\n            m = n\n            out = x\n        return out * m\n"
    result = convert_source(f"import torch\nimport torch.nn as nn\n\n\nclass M(nn.Module):\n    def forward(self, x):\n{body}")
    assert {d.id for d in result.diagnostics} == {"traced-branch", "data-dependent-shape"}
    assert "        if n % k != 0:\n" in result.code
