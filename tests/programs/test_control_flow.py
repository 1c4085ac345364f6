"""Branches and loops on data: small programs, each over inputs that take different branches and trip counts."""

import pytest
import torch

from tests.small_programs import both, compare, three
from transpile import convert_source

pytestmark = pytest.mark.usefixtures("wide")

# name -> body of `def f(x, y)`
BRANCHES = {
    "both sides": "if x.sum() > 0:\n    z = x * 2\nelse:\n    z = y.exp()\nreturn z + x",
    "one side": "z = x * 1\nif x.mean() > 0:\n    z = z * y\nreturn z",
    "plain choice": "z = x * 1\nif x.mean() > 0:\n    z = z * 2\nreturn z",
    "augmented": "z = x * 1\nif x.mean() > 0:\n    z += 1\nreturn z",
    "early return": "if x.mean() > 0:\n    return x * 2\nz = y.tanh()\nreturn z + x",
    "return on both sides": "if x.mean() > 0:\n    return x.exp()\nelse:\n    return y",
    "elif": "if x.mean() > 1:\n    z = x\nelif x.mean() > 0:\n    z = y\nelse:\n    z = x + y\nreturn z",
    "elif returns": "if x.mean() > 1:\n    return x\nelif x.mean() > 0:\n    return y\nreturn x + y",
    "nested": "z = x * 1\nif x.mean() > 0:\n    if y.mean() > 0:\n        z = z * y\n    else:\n        z = z - y\nreturn z",
    "nested return": "if x.mean() > 0:\n    if y.mean() > 0:\n        return x * y\n    x = x + 1\nreturn x - y",
    "static outside": "if x.dim() == 2:\n    if x.mean() > 0:\n        return x\n    y = y * 2\nreturn y",
    "static inside": "if x.mean() > 0:\n    if x.size(0) > 2:\n        z = x\n    else:\n        z = y\nelse:\n    z = x * y\nreturn z",
    "two results": "a, b = x * 1, y * 1\nif x.mean() > 0:\n    a, b = b, a\nreturn a - 2 * b",
    "several statements": "if x.mean() > 0:\n    t = x.exp()\n    z = t / (1 + t)\nelse:\n    t = y.tanh()\n    z = t * t\nreturn z",
    "number and tensor": "if x.mean() > 0:\n    loss = x.sum()\nelse:\n    loss = 0.0\nreturn loss + y.mean()",
    "numbers": "scale = 1.0\nif x.mean() > 0:\n    scale = 2.0\nreturn x * scale",
    "counter": "n = 0\nif x.mean() > 0:\n    n = n + 1\nif y.mean() > 0:\n    n = n + 1\nreturn x * n",
    "counter asked": "n = 0\nif x.mean() > 0:\n    n += 1\nif n > 0:\n    return x * 3\nreturn y",
    "and": "if x.mean() > 0 and y.mean() > 0:\n    return x * y\nreturn x + y",
    "or": "if x.mean() > 1 or y.mean() > 1:\n    return x * y\nreturn x + y",
    "not": "if not (x > 0).all():\n    return x * y\nreturn x + y",
    "not any": "if not torch.any(x > 1):\n    return x * y\nreturn x + y",
    "static and traced": "if x.dim() == 2 and x.mean() > 0:\n    return x * y\nreturn x + y",
    "traced and static": "if x.mean() > 0 and x.dim() == 2:\n    return x * y\nreturn x + y",
    "truth of a number": "if (x > 0).sum():\n    return x * y\nreturn x + y",
    "chain": "m = x.mean()\nif -0.5 < m < 2.0:\n    return x * y\nreturn x + y",
    "equal": "if torch.equal(x, y) or torch.allclose(x, x):\n    return x * y\nreturn x",
    "item": "if x.mean().item() > 0:\n    return x * y\nreturn x + y",
    "float": "m = float(x.mean())\nif m > 0:\n    return x * m\nreturn y * m",
    "ternary": "z = x * 2 if x.mean() > 0 else x\nreturn z + y",
    "ternary of calls": "z = x.exp() if x.mean() > 0 else y.tanh()\nreturn z + y",
    "ternary by division": "s = x.abs().sum()\nn = (x > 0).sum()\nz = s / n if n > 0 else 0.0\nreturn z + y",
    "ternary in a call": "return torch.add(x, y if y.mean() > 0 else -y)",
    "dead names": "if x.mean() > 0:\n    unused = x * 2\nreturn x + y",
    "in a static loop": "z = x * 1\nfor i in range(3):\n    if z.mean() > 0.5:\n        z = z - y\n    else:\n        z = z + i\nreturn z",
    "list element": "parts = [x, y]\nif x.mean() > 0:\n    w = parts[0] * 2\nelse:\n    w = parts[1]\nreturn w",
    "in place": "z = x.clone()\nif x.mean() > 0:\n    z[0] = y[0]\nreturn z",
    "in place on both sides": "z = x.clone()\nif x.mean() > 0:\n    z[0] = y[0]\nelse:\n    z.mul_(2)\nreturn z",
    "alias of what a side writes": "z = x.clone()\nw = z\nif x.mean() > 0:\n    z.add_(1)\nreturn w, z",
    "inner function": "def g(t):\n    if t.mean() > 0:\n        return t * 2\n    return t - 1\nreturn g(x) + g(y)",
    "max of a list": "return max([x.sum() * 0 + 3, y.sum() * 0 + 3, x.mean()]) + x",
    "max of a comprehension": "return max([(t * 0).sum() for t in (x, y)]) + x",
    "min of a generator": "return min(t.sum() for t in (x, y)) * max((t * 0).mean() for t in (y, x))",
    "min of a named list": "vals = [torch.sum(t * 0) for t in (x, y)]\nreturn min(vals) + x * max([*vals, y.mean()])",
    "nan in a list": "return max([x.sum(), x.mean() / 0 * 0, y.sum()]) + min([(x * 0).sum() / 0, y.sum()])",
    "min and max": "a = max(x.mean(), 0.5)\nb = min(y.mean(), x.mean())\nreturn x * a + b",
    "max of a difference": "return x * max(0.0, x.mean() - y.mean())",
    "comparison of rows": "z = []\nfor row in x:\n    z.append(row * 2 if row.sum() > 0 else row)\nreturn torch.stack(z)",
    "shape after a choice": "z = x if x.mean() > 0 else y\nreturn z.view(-1).sum()",
    "dtype of a side": "if x.mean() > 0:\n    m = (x > 0).to(x.dtype)\nelse:\n    m = torch.ones_like(x)\nreturn m * y",
    "where by hand": "out = torch.zeros_like(x)\nfor i in range(x.size(0)):\n    if x[i].sum() > 0:\n        out[i] = x[i]\n    else:\n        out[i] = y[i]\nreturn out",
    "helper with a branch": "def g(t, s):\n    if t.norm() > 3:\n        t = t / t.norm()\n    return t * s\n\n\ndef f(x, y):\n    return g(x, 2.0) + g(y, 3.0)",
    "max over a threshold": "m, i = x.max(dim=1)\nif m.max() > 1:\n    m = m - 1\nreturn m",
    "both sides of a flag": "flag = x.mean() > 0\nif flag:\n    z = x\nelse:\n    z = y\nif flag:\n    z = z * 2\nreturn z",
    "not a flag": "flag = x.mean() > 0\nif not flag:\n    return y\nreturn x * y",
}  # fmt: skip

LOOPS = {
    "while": "while x.norm() > 1:\n    x = x * 0.5\nreturn x + y",
    "while with a counter": "n = 0\nwhile x.norm() > 1:\n    x = x * 0.5\n    n += 1\nreturn x + y, n",
    "while with a bound": "n = 0\nwhile x.norm() > 1 and n < 2:\n    x = x * 0.5\n    n += 1\nreturn x, n",
    "while with a break": "n = 0\nwhile x.norm() > 1:\n    x = x * 0.5\n    n += 1\n    if n >= 2:\n        break\nreturn x, n",
    "while with a break first": "n = 0\nwhile x.norm() > 1:\n    if y.mean() > 0:\n        break\n    x = x * 0.5\n    n += 1\nreturn x, n",
    "while True": "n = 0\nwhile True:\n    x = x * 0.5\n    n += 1\n    if x.norm() < 1:\n        break\nreturn x, n",
    "while with continue": "n = 0\nwhile x.norm() > 1:\n    x = x * 0.5\n    if x.norm() > 3:\n        continue\n    n += 1\nreturn x, n",
    "while with else": "n = 0\nwhile x.norm() > 1:\n    x = x * 0.5\n    n += 1\n    if n > 2:\n        break\nelse:\n    y = y * 2\nreturn x + y",
    "while with a branch": "while x.norm() > 1:\n    if x.mean() > 0:\n        x = x * 0.5\n    else:\n        x = x * 0.25 + 0.01\nreturn x",
    "while under a branch": "if y.mean() > 0:\n    while x.norm() > 1:\n        x = x / 2\nreturn x + y",
    "temporaries": "while x.norm() > 1:\n    t = x.tanh()\n    x = t * 0.5\nreturn x",
    "nested while": "n = 0\nwhile x.norm() > 1:\n    x = x * 0.5\n    while y.norm() > x.norm():\n        y = y * 0.5\n    n += 1\nreturn x, y, n",
    "not in a while": "done = x.norm() < 1\nwhile not done:\n    x = x * 0.5\n    done = x.norm() < 1\nreturn x",
    "for with a break": "for i in range(5):\n    if x.norm() < 2:\n        break\n    x = x * 0.5 + i * 0.01\nreturn x + y",
    "for with a break last": "for i in range(5):\n    x = x * 0.5\n    if x.norm() < 2:\n        break\nreturn x + y",
    "for with continue": "z = torch.zeros_like(x[0])\nfor row in x:\n    if row.sum() < 0:\n        continue\n    z = z + row\nreturn z",
    "for with else": "for i in range(3):\n    x = x * 0.7\n    if x.norm() < 2:\n        break\nelse:\n    x = x + y\nreturn x",
    "for with a static break": "for i in range(5):\n    if i == 3:\n        break\n    if x.norm() < 1:\n        continue\n    x = x * 0.5\nreturn x",
    "count": "n = 0\nfor row in x:\n    if row.sum() > 0:\n        n += 1\nreturn x * n",
    "range of a tensor": "n = (x > 0).sum()\nz = y * 1\nfor i in range(n):\n    z = z * 0.9 + 0.1\nreturn z",
    "range of an int": "n = int((x > 0).sum())\nz = y * 1\nfor i in range(n):\n    z = z * 0.9 + 0.01 * i\nreturn z",
    "range of an item": "n = (x > 1).sum().item()\nz = y * 1\nfor i in range(1, n):\n    z = z * 0.9\nreturn z",
    "row after a break": "for row in x:\n    if row.sum() > 0:\n        break\nreturn row + y",
    "index after a break": "for i in range(4):\n    if x[i].sum() > 0:\n        break\nreturn y * i",
    "local after a break": "for i in range(4):\n    t = x[i] * 2\n    if t.sum() > 0:\n        break\nreturn y * t",
    "return from a loop": "for i in range(3):\n    x = x * 0.5\n    if x.norm() < 1:\n        return x\nreturn y",
    "first of its kind": "best = x[0]\nfor i in range(1, 4):\n    if x[i].sum() > best.sum():\n        best = x[i]\nreturn best",
    "newton": "g = x.abs() + 1\nfor _ in range(20):\n    new = 0.5 * (g + (x.abs() + 1) / g)\n    if (new - g).abs().max() < 1e-3:\n        break\n    g = new\nreturn g",
}  # fmt: skip

# each becomes a scan
SCANS = {
    "rows": "h = torch.zeros(6)\nfor row in x:\n    h = torch.tanh(row + h)\nreturn h",
    "picked": "h = torch.zeros(6)\nout = []\nfor t in range(x.size(0)):\n    h = torch.tanh(x[t] + h)\n    out.append(h)\nreturn torch.stack(out), h",
    "picked by the second axis": "B, T = x.shape\nh = torch.zeros(B)\nout = []\nfor t in range(T):\n    h = h * 0.5 + x[:, t]\n    out.append(h)\nreturn torch.stack(out, dim=1) * 2, h",
    "two arrays": "h = torch.zeros(6)\nfor a, b in zip(x, y):\n    h = torch.tanh(a * b + h)\nreturn h",
    "two carried": "h, c = torch.zeros(6), torch.ones(6)\nfor row in x:\n    c = c * row.sigmoid() + h\n    h = c.tanh()\nreturn h, c",
    "part of the rows": "T = x.size(0)\nh = torch.zeros(6)\nfor t in range(T - 1):\n    h = h + x[t] * y[t]\nreturn h",
    "backwards": "T = x.size(0)\nh = torch.zeros(6)\nout = []\nfor t in reversed(range(T)):\n    h = h * 0.5 + x[t]\n    out.append(h)\nreturn torch.stack(out)[0], h",
    "stored": "out = torch.zeros_like(x)\nh = torch.zeros(6)\nfor t in range(x.size(0)):\n    h = h + x[t]\n    out[t] = h\nreturn out",
    "branch inside": "h = torch.zeros(6)\nfor row in x:\n    if row.sum() > 0:\n        h = h + row\n    else:\n        h = h * 0.5\nreturn h",
    "not all rows, with a break": "h = torch.zeros(6)\nfor row in x:\n    if h.norm() > 3:\n        break\n    h = h + row\nreturn h",
    "grows by broadcasting": "h = torch.zeros(1)\nfor row in x:\n    h = h + row\nreturn h",
    "in a branch, with a name read after it": "v, s = torch.zeros(6), x.sum()\nif y.sum() > 0:\n    for row in x:\n        v = torch.tanh(v + row)\n        s = v.sum()\n    return v + s\nreturn v - s",
    "two lists": "h = torch.zeros(6)\na, b = [], []\nfor row in x:\n    h = h + row\n    a.append(h)\n    b.append(h * 2)\nreturn torch.stack(a), torch.stack(b, 1)",
    "enumerated": "h = torch.zeros(6)\nfor t, row in enumerate(x):\n    h = h + row * y[t]\nreturn h",
}  # fmt: skip

# each stays a Python loop: its index is used as a number, or its list as a list
UNROLLED = {
    "slice by the index": "h = torch.zeros(6)\nfor t in range(x.size(0)):\n    h = h + x[: t + 1].sum(0)\nreturn h",
    "asks for the index": "h = torch.zeros(6)\nfor t in range(x.size(0)):\n    if t % 2 == 0:\n        h = h + x[t]\nreturn h",
    "list is returned": "h = torch.zeros(6)\nout = []\nfor row in x:\n    h = h + row\n    out.append(h)\nreturn out, torch.stack(out)",
    "list is read": "out = [x[0]]\nfor row in x:\n    out.append(out[-1] + row)\nreturn torch.stack(out)",
    "index afterwards": "h = torch.zeros(6)\nfor t in range(x.size(0)):\n    h = h + x[t]\nreturn h * t",
    "cat of the index": "h = torch.zeros(1)\nfor t in range(x.size(0)):\n    h = torch.cat([h, x[t, :1]])\nreturn h",
}  # fmt: skip

# what cannot be lowered says so, at its line
REFUSED = {
    "append under a branch": ("parts = [x]\nif x.mean() > 0:\n    parts.append(y)\nreturn torch.cat(parts)", "traced-branch"),
    "a function under a branch": ("def g(u):\n    return u\nif x.mean() > 0:\n    def g(u):\n        return -u\nreturn g(y)", "traced-branch"),
    "another function under a branch": ("g = torch.tanh\nif x.mean() > 0:\n    g = torch.relu\nreturn g(y)", "traced-branch"),
    "a function in a loop": ("def g(u):\n    return u\nwhile x.norm() > 1:\n    def g(u):\n        return -u\n    x = x * 0.5\nreturn g(x)", "traced-loop"),
    "None under a branch": ("z = x\nif x.mean() > 0:\n    z = None\nreturn x if z is None else z", "traced-branch"),
    "set on one side": ("if x.mean() > 0:\n    z = x\nelse:\n    w = y\nif x.mean() > 0:\n    return z\nreturn w", "traced-branch"),
    "return from a loop with an else": ("for i in range(3):\n    x = x * 0.5\n    if x.norm() < 1:\n        return x\nelse:\n    y = y * 2\nreturn y", "traced-branch"),
    "return of a turn's own array": ("while x.norm() > 1:\n    x = x * 0.5\n    t = x + 1\n    if t.mean() > 1:\n        return t\nreturn x", "traced-loop"),
    "rows of what is written and renamed": ("z = x * 1\nt = 0\nfor row in z:\n    t = t + row.sum()\n    z += 1\n    z = y * 2\nreturn t, z", "aliased-write"),
    "list in a while": ("parts = []\nwhile x.norm() > 1:\n    x = x * 0.5\n    parts.append(x)\nreturn torch.stack(parts)", "traced-loop"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*BRANCHES, *LOOPS])
def test_program(name):
    compare({**BRANCHES, **LOOPS}[name], three())


@pytest.mark.parametrize("name", SCANS)
def test_scan(name):
    body = "def f(x: torch.Tensor, y: torch.Tensor):\n" + "".join(f"    {line}\n" for line in SCANS[name].splitlines())
    _, _, code = both(body)
    assert "nn.scan(" in code, code
    compare(body, three())


@pytest.mark.parametrize("name", UNROLLED)
def test_unrolled(name):
    compare(UNROLLED[name], three())


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    body, diagnostic = REFUSED[name]
    _, converted, code = both(body, [diagnostic])
    with pytest.raises(NotImplementedError, match=diagnostic):
        converted(*(torch.ones(2, 3).numpy() for _ in range(2)))


def test_overlapping_copy_is_reported():
    body = "x = x.clone()\nx[:, 1:3] = x[:, 2:4]\nx[:2] = x[2:]\nx[0] = x[1]\nx[::2] = x[::2]\nx[1:, :1] = x[:-1, 1:2]\nreturn x"
    both(body, ["overlapping-copy"])


def test_checks_of_what_a_function_is_given_are_left_out():
    own = "class Round(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, top):\n        assert top > 0\n        return torch.round(x / top) * top\n\n    @staticmethod\n    def backward(ctx, grad):\n        return grad, None\n\n\nround_to = Round.apply\n\n\ndef f(x, y):\n    return round_to(x, y.abs().max().item()) + Round.apply(y, 2.0)"
    compare(own, three(), ["data-check"])


def test_checks_are_left_out():
    compare("assert x.dim() == 2\nassert torch.isfinite(x).all()\nif torch.isnan(x).any():\n    raise ValueError('nan')\nreturn x * y", three(), ["data-check", "data-check"])


def test_what_a_refused_loop_would_set_is_not_without_a_value():
    source = "import torch\n\n\ndef f(x):\n    while True:\n        w = torch.rand(3)\n        i = w.max(0)[1]\n        if (w > x).all():\n            continue\n        break\n    return w, i\n"
    result = convert_source(source)
    assert 'w = i = nn.unconverted("traced-loop", "True")' in result.code
    assert [(d.id, d.line) for d in result.diagnostics] == [("traced-loop", 5)]
