"""Writes that reach their owner in roundabout ways: by functions kept in attributes and tables, by `map`, comprehensions and generators."""

import pytest

from tests.small_programs import compare, reported, three

pytestmark = pytest.mark.usefixtures("wide")

_G = "def g(t):\n    t.add_(1)\n    return t * 2\ndef h(t):\n    return t * 3\n"
_FN = (
    "class Fn(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t, dim=-1):\n        t -= t.max()\n        return t.exp()\n"
    "    @staticmethod\n    def backward(ctx, g):\n        return g, None\n"
)
_ROWS = "def rows(t):\n    for i in range(2):\n        yield t[i]\n"


def _kept(attribute, call, head=_G):
    """A class that keeps something and calls it with x, which is read afterwards."""
    body = "".join(f"        {line}\n" for line in attribute.split("\n"))
    return f"{head}class Net:\n    def __init__(self, fn=None):\n{body}    def go(self, x):\n        y = {call}\n        return x, y\ndef f(x, y):\n    return Net().go(x * 1)"


# Where a function that writes its argument is called by way of something else.
CALLED = {
    "a lambda that is a default": _FN + "soft = lambda t, dim=-1: Fn.apply(t, dim)\nclass Net:\n    def __init__(self, fn=soft):\n        self.fn = fn\n    def go(self, x):\n        return self.fn(x, dim=0), x\ndef f(x, y):\n    return Net().go(x * 1)",
    "a function given to a constructor": _G + "class Net:\n    def __init__(self, fn):\n        self.fn = fn\n    def go(self, x):\n        y = self.fn(x)\n        return x, y\ndef f(x, y):\n    return Net(g).go(x * 1)",
    "one that is given by a subclass": _G + "class Base:\n    def __init__(self, fn):\n        self.fn = fn\n    def go(self, x):\n        y = self.fn(x)\n        return x, y\nclass Net(Base):\n    def __init__(self):\n        super().__init__(g)\ndef f(x, y):\n    return Net().go(x * 1)",
    "a list of functions": _kept("self.fns = [g, h]", "self.fns[0](x)"),
    "a list that grows": _kept("self.fns = []\nself.fns.append(h)\nself.fns.append(g)", "self.fns[1](x)"),
    "partial": "from functools import partial\n" + _kept("self.fn = partial(g, 3)", "self.fn(x)", "def g(n, t):\n    t.add_(n)\n    return t * 2\n"),
    "an object with a call": _kept("self.fn = A()", "self.fn(x)", "class A:\n    def __call__(self, t):\n        t.add_(1)\n        return t * 2\n"),
    "a table": _G + 'FNS = {"g": g, "h": h}\ndef f(x, y, name="g"):\n    z = x * 1\n    fn = FNS[name]\n    return fn(z) + 0, z',
    "a table that is asked": _G + 'FNS = dict(g=g, h=h)\ndef f(x, y, name="g"):\n    z = x * 1\n    y = FNS.get(name, h)(z)\n    return y, z',
    "a loop over functions": _G + "def f(x, y):\n    z = x * 1\n    for fn in [g, h]:\n        y = y + fn(z)\n    return z, y",
    "a loop over pairs": _G + 'def f(x, y):\n    z = x * 1\n    for name, fn in [("a", g), ("b", h)]:\n        y = y + fn(z)\n    return z, y',
    "a choice": _G + "def f(x, y, fast=True):\n    z = x * 1\n    fn = g if fast else h\n    y = fn(z)\n    return z, y",
    "a default": _G + "def f(x, y, fn=g):\n    z = x * 1\n    y = fn(z)\n    return z, y",
    "a lambda under a name": _G + "def f(x, y):\n    z = x * 1\n    fn = lambda t: g(t)\n    y = fn(z)\n    return z, y",
    "a method under a name": "class A:\n    def step(self, t):\n        t.add_(1)\n        return t * 2\n    def walk(self, t):\n        return t\n    def go(self, x, fast=True):\n        step = self.step if fast else self.walk\n        y = step(x)\n        return x, y\ndef f(x, y):\n    return A().go(x * 1)",
    "a method of the class": "class A:\n    def step(self, t):\n        t.add_(1)\n        return t * 2\ndef f(x, y):\n    z, a = x * 1, A()\n    y = A.step(a, z)\n    return z, y",
    "a method that a subclass overrides": "class A:\n    def step(self, t):\n        return t * 2\n    def go(self, x):\n        y = self.step(x)\n        return x, y\nclass B(A):\n    def step(self, t):\n        t.add_(1)\n        return t * 3\ndef f(x, y):\n    return B().go(x * 1)",
    "a callback": _G + "def run(fn, t):\n    return fn(t)\ndef f(x, y):\n    z = x * 1\n    y = run(lambda t: g(t), z)\n    return z, y",
    "map": _G + "def f(x, y):\n    a, b = x * 1, y * 1\n    q, k = map(g, (a, b))\n    return a, b, q, k",
    "a view": _G + "def f(x, y):\n    z = x * 1\n    y = g(z.view(-1))\n    return z, y",
    "a view, and nothing returned": "def g(t):\n    t.mul_(2)\ndef f(x, y):\n    z = x * 1\n    g(z.t())\n    return z",
    "a choice of arguments": _G + "def f(x, y, c=True):\n    a, b = x * 1, y * 1\n    z = g(a if c else b)\n    return a, b, z",
    "a default that is an array": "def f(x, y):\n    h = x * 1\n    def g(t, base=h):\n        base += 1\n        return t * 2\n    y = g(y)\n    return y + h",
    "parts that are spread": "def g(a, b):\n    a.mul_(2)\n    return a + b\ndef f(x, y):\n    z = x * 1\n    y = g(*z.chunk(2))\n    return z, y",
}  # fmt: skip

_OBJECT = (
    "class H:\n    def __init__(self, x):\n        self.x, self.d = x, {'x': x}\n    def half(self):\n"
    "        return self.x[:2]\n    def all(self):\n        return self.d\n"
)
# Where what is written is a view of something that is read again.
_KEPT = "class K:\n    def __init__(self, x, n):\n        self.x, self.n = x, n\n    def get(self):\n        return self.x\n    def count(self):\n        return self.n\n    def __getitem__(self, i):\n        return self.x[i]\n    @property\n    def value(self):\n        return self.x\n"

SHARED = {
    "an entry under a second key": 'd, a = {}, x * 1\nd["a"] = a\nd["b"] = d["a"]\nd["b"].add_(1)\nreturn a',
    "an entry of one way or the other": 'd, a = {}, x * 1\nd["a"] = a\nif len(y) > 1:\n    d["b"] = d["a"]\nelse:\n    d["b"] = y\nd["b"].add_(1)\nreturn a',
    "an entry of a display of another": 'd, a = {}, x * 1\nd["a"] = a\ne = {"b": d["a"]}\ne["b"].add_(1)\nreturn a',
    "a list by setdefault": 'd, a = {}, x * 1\nd.setdefault("k", []).append(a)\na.add_(1)\nreturn d["k"][0]',
    "a name of a list by setdefault": 'd, a = {}, x * 1\nq = d.setdefault("k", [])\nq.append(a)\na.add_(1)\nreturn d["k"][0]',
    "a list by get": 'd, a = {"k": []}, x * 1\nd.get("k").append(a)\na.add_(1)\nreturn d["k"][0]',
    "one of two lists": "p, q, a = [], [], x * 1\n(p if len(y) > 1 else q).append(a)\na.add_(1)\nreturn p[0]",
    "map of a lambda": "a, b = x * 1, y * 1\nq, k = map(lambda t: t[0], (a, b))\nq.add_(1)\nreturn a, q",
    "map of a lambda, written by an index": "a, b = x * 1, y * 1\nq, k = map(lambda t: t.view(-1), (a, b))\nq[0] = 0\nreturn a, q",
    "map of a function": "def first(t):\n    return t[0]\ndef f(x, y):\n    a, b = x * 1, y * 1\n    q, k = map(first, (a, b))\n    q.add_(1)\n    return a, q",
    "map of a partial": "from functools import partial\ndef at(i, t):\n    return t[i]\ndef f(x, y):\n    a, b = x * 1, y * 1\n    q, k = map(partial(at, 0), (a, b))\n    q.add_(1)\n    return a, q",
    "a tuple of a map": "a, b = x * 1, y * 1\nq, k = tuple(map(lambda t: t[0], (a, b)))\nk.mul_(2)\nreturn b",
    "map of parts": "z = x * 1\nq, k = map(lambda t: t[0], z.chunk(2, dim=0))\nq.add_(1)\nreturn z",
    "map of one thing twice": "a = x * 1\nq, k = map(lambda t: t[0], (a, a))\nq *= 3\nreturn k",
    "a map over a tree": "from torch.utils._pytree import tree_map\ndef f(x, y):\n    a = x * 1\n    b, _ = tree_map(lambda t: t, (a, y))\n    a.add_(1)\n    return b",
    "a loop over a map": "a, b = x * 1, y * 1\nfor q in map(lambda t: t[0], (a, b)):\n    q.add_(1)\nreturn a, b",
    "a list comprehension": "a, b = x * 1, y * 1\nq, k = [t[0] for t in (a, b)]\nq.add_(1)\nreturn a",
    "a dict comprehension": 'a, b = x * 1, y * 1\nd = {k: t[0] for k, t in (("a", a), ("b", b))}\nd["a"].add_(1)\nreturn a',
    "a lambda": "z = x * 1\nfirst = lambda t: t[0]\nq = first(z)\nq.add_(1)\nreturn z",
    "a default of a function": "z = x * 1\nadd = lambda t, by=z: t + by\nz.mul_(2)\nreturn add(y)",
    "what a lambda reads around it": "z = x * 1\nat = lambda i: z[i]\nq = at(0)\nq.add_(1)\nreturn z",
    "what a function reads around it": "z = x * 1\ndef first():\n    return z[0]\nq = first()\nq.add_(1)\nreturn z",
    "a nonlocal name that another has": "acc = x * 1\nk = acc\ndef add(v):\n    nonlocal acc\n    acc += v\nadd(y)\nreturn k, acc",
    "a nonlocal name that is given back": "acc = x * 1\ndef add(v):\n    nonlocal acc\n    acc += v\n    return acc\na = add(y)\nb = add(y)\nreturn a, b",
    "a view of what is around": "acc = x * 1\ndef add(v):\n    r = acc[0]\n    r += v[0]\n    return r\nz = add(y)\nreturn z, acc",
    "one of many arguments": "def first(*ts):\n    return ts[0]\ndef f(x, y):\n    z = x * 1\n    q = first(z, y)\n    q.add_(1)\n    return z",
    "an argument by its keyword": 'def first(**ts):\n    return ts["a"]\ndef f(x, y):\n    z = x * 1\n    q = first(a=z, b=y)\n    q.add_(1)\n    return z',
    "a loop over a generator": _ROWS + "def f(x, y):\n    z = x * 1\n    for r in rows(z):\n        r.add_(1)\n    return z",
    "names from a generator": _ROWS + "def f(x, y):\n    z = x * 1\n    a, b = rows(z)\n    a.add_(1)\n    return z",
    "a part that an object gives": _OBJECT + "def f(x, y):\n    h = H(x * 1)\n    q = h.half()\n    q += 1\n    return h.x",
    "a tensor that an object gives": _KEPT + "def f(x, y):\n    h = K(x * 1, 2)\n    q = h.get()\n    q += 1\n    return h.get()",
    "a tensor that an object gives by index": _KEPT + "def f(x, y):\n    h = K(x * 1, 2)\n    q = h[0]\n    q += 1\n    return h.get()",
    "a tensor that is a property": _KEPT + "def f(x, y):\n    h = K(x * 1, 2)\n    q = h.value\n    q += 1\n    return h.get()",
    "a field of a dataclass that a method gives": "from dataclasses import dataclass\n@dataclass\nclass D:\n    x: object\n    n: int = 3\n    def get(self):\n        return self.x\ndef f(x, y):\n    h = D(x * 1)\n    q = h.get()\n    q += 1\n    return h.get()",
    "rows of what an object gives": _KEPT + "def f(x, y):\n    h = K([x * 1, y * 1], 2)\n    for q in h.get():\n        q += 1\n    return h.get()[0]",
    "a dict that an object gives": _OBJECT + "def f(x, y):\n    h = H(x * 1)\n    for v in h.all().values():\n        v.mul_(2)\n    return h.x",
    "einops": 'from einops import rearrange\ndef f(x, y):\n    z = x * 1\n    q = rearrange(z, "a (b c) -> b a c", b=2)\n    q.add_(1)\n    return z',
}  # fmt: skip

_LIB = "from somelib import pieces\n"

# Where what is written is held by what nobody knows here, and read by nobody else; where it is read, it is taken for new.
FOREIGN = {
    "a loop over what a method gives": ("def f(helper, x):\n    for h in helper.hidden():\n        h.zero_()\n    return x", {"aliased-write"}),
    "a loop over what a library gives": (_LIB + "def f(x):\n    for i, t in enumerate(pieces(x)):\n        t.mul_(2)\n    return x", {"aliased-write"}),
    "one thing that a method gives": ("def f(helper, x):\n    h = helper.hidden()\n    h.zero_()\n    return x", {"aliased-write"}),
    "what is read": (_LIB + "def f(x):\n    out = []\n    for t in pieces(x):\n        t.mul_(2)\n        out.append(t)\n    return out", set()),
    "what is given back": (_LIB + "def f(x):\n    t = pieces(x)\n    return t.mul_(2)", set()),
    "what is read by another name": (_LIB + "def f(x):\n    t = pieces(x)\n    y = t.mul_(2)\n    return y", set()),
    "a name that is new": (_LIB + "def f(x):\n    total = 0\n    for t in pieces(x):\n        u = t * 2\n        u.add_(1)\n        total = total + u\n    return total", set()),
}  # fmt: skip

# Where nothing of it is read again, or all are different parts.
PROGRAMS = {
    "a nonlocal name that no other has": "acc, n = x * 1, 0\ndef add(v):\n    nonlocal acc, n\n    acc += v\n    n += 1\nadd(y)\nadd(x)\nreturn acc * n",
    "a number that an object gives": _KEPT + "def f(x, y):\n    h = K(x * 1, 2)\n    n = h.count()\n    n += 1\n    return h.get() * n * h.count()",
    "a field that an object has": _KEPT + "def f(x, y):\n    h = K(x * 1, 2)\n    q = h.x\n    q += 1\n    return h.get()",
    "a method by getattr": 'class A:\n    def step(self, t):\n        t.add_(1)\n        return t * 2\n    def go(self, x):\n        y = getattr(self, "step")(x)\n        return x, y\ndef f(x, y):\n    return A().go(x * 1)',
    "map of parts": "q, k = map(lambda t: t.unsqueeze(0), torch.cat([x.detach(), y], dim=-1).detach().chunk(2, dim=-1))\nq *= 3\nreturn q, k",
    "map of named parts": "qkv = torch.cat([x.detach(), y], dim=-1).detach().chunk(2, dim=-1)\nq, k = map(lambda t: t.unsqueeze(0), qkv)\nq *= 3\nreturn q, k",
    "a comprehension over parts": "qkv = torch.cat([x.detach(), y], dim=-1).detach().chunk(2, dim=-1)\nq, k = [t.unsqueeze(0) for t in qkv]\nq *= 3\nreturn q, k",
    "map of two names": "a, b = x * 2, y * 2\na, b = map(lambda t: t[0], (a, b))\na *= 3\nreturn a, b",
    "new tensors": "q, k = map(lambda t: t[0] * 1, (x, y))\nq *= 3\nreturn q, k, x",
    "einops that copies": 'from einops import rearrange\ndef f(x, y):\n    q = rearrange(x * 1, "a (b c) -> (b a) c", b=2)\n    q *= 2\n    k = rearrange(y, "a (b c) -> (b a) c", b=2)\n    k += 1\n    return q, k, y',
    "a table of functions that write nothing": 'FNS = {"g": lambda t: t + 1, "h": lambda t: t * 2}\ndef w(t):\n    t.add_(1)\n    return t\ndef f(x, y, name="g"):\n    z = w(x * 1)\n    return FNS[name](z), z',
}  # fmt: skip


@pytest.mark.parametrize("name", CALLED)
def test_called(name):
    assert reported(CALLED[name]) == {"mutated-argument"}


@pytest.mark.parametrize("name", SHARED)
def test_shared(name):
    assert reported(SHARED[name]) == {"aliased-write"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name], three())


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign(name):
    body, diagnostics = FOREIGN[name]
    assert reported(body) == diagnostics


# A tensor that is written, and another name that may stand for it: what that is asked for is the same before and after.
ASKED = {
    "its size": "z = x * 2\nq = z\nif z.shape[0] > 9:\n    q = q + y\nq *= 0.5\nreturn q.view(z.shape[0], -1) + z.size(1)",
    "its dtype": "z = x * 2\nq = z if x.dim() == 9 else y * 1\nq.add_(1)\nreturn q.to(z.dtype)",
    "after a call": "def g(t):\n    t.add_(1)\n    return t * 2\ndef f(x, y, fn=g):\n    z = x * 1\n    y = fn(z)\n    return y.view(z.size(0), -1)",
}


@pytest.mark.parametrize("name", ASKED)
def test_the_shape_of_what_may_be_written_is_known(name):
    compare(ASKED[name], three())


def test_its_shape_is_not_where_something_is_given_another_in_place():
    assert reported("z = x * 2\nq = z if x.dim() == 9 else y * 1\nq.unsqueeze_(0)\nreturn q + z.size(0)") == {"aliased-write"}


# Writes that a flag decides when the model runs.
FLAGGED = {
    "a statement": "z = x * 1\nF.relu(z, inplace=flag)\nreturn z",
    "under another name": "z = x * 1\nq = F.relu(z, inplace=flag)\nreturn z + q",
    "read in the same expression": "z = x * 1\nreturn F.relu(z, flag) + z * 2",
    "a view of it": "z = x * 1\nw = z.view(-1)\nq = F.relu(z, inplace=flag)\nreturn w, q",
    "an alias": "z = x * 1\nidentity = z\nz = F.relu(z, inplace=flag)\nreturn z + identity",
    "a part": "z = x * 1\nq = F.relu(z[0], inplace=flag)\nreturn z, q",
    "a function that gets the flag": "def g(t, inplace):\n    return F.hardtanh(t, min_val=0, inplace=inplace)\ndef f(x, y):\n    z = x * 1\n    q = g(z, FLAG)\n    return z + q",
    "one whose argument nobody reads": "def g(t, inplace=FLAG):\n    return F.hardtanh(t, min_val=0, inplace=inplace)\ndef f(x, y):\n    return g(x * 1)",
}


@pytest.mark.parametrize("name", FLAGGED)
@pytest.mark.parametrize("flag", ["False", "True"])
def test_a_flag_tells_what_is_written(name, flag):
    body = FLAGGED[name]
    if "def f(" not in body:
        body = f"def f(x, y, flag={flag}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    compare(body.replace("FLAG", flag), three())


def test_what_is_written_later_may_be_either():
    assert reported("def f(x, y, flag=False):\n    z = x * 1\n    q = F.relu(z, inplace=flag)\n    q.add_(1)\n    return z, q") == {"aliased-write"}
