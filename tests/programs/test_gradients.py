"""Where gradients stop: what leaves a block under no_grad in any way, and writes through `.data`, which leave the gradient as it was."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from tests.small_programs import reported
from transpile import convert_source, from_torch

from ..against_torch import float64
from ..small_programs import HEAD, compare, load, three

pytestmark = pytest.mark.usefixtures("wide")

SAMPLE = "def sample(t):\n    return {'z': t * 2, 'a': t * 3}\n\n"
BORDER = "def border(m, v):\n    m[:, :1] = v\n\n"
LEAVING = {
    "a dict that a function returns": SAMPLE + "def f(x, y):\n    with torch.no_grad():\n        out = sample(x)\n    return out['z'] * x",
    "a dict keeps its order": SAMPLE + "def f(x, y):\n    with torch.no_grad():\n        out = sample(x)\n    return sum(i * v for i, v in enumerate(out.values())) * x",
    "a dict of a decorated function": "@torch.no_grad()\ndef g(t):\n    return {'a': t * 2, 'l': [t * 3, t], 'name': 'g'}\n\ndef f(x, y):\n    out = g(x)\n    return out['a'] * x + out['l'][0] * y + out['l'][1]",
    "a dict in a tuple": "def g(t):\n    with torch.no_grad():\n        return t * 2, {'k': t * 3}\n\ndef f(x, y):\n    a, b = g(x)\n    return a * x + b['k'] * y",
    "a dict comprehension": "with torch.no_grad():\n    ts = [x * i for i in range(3)]\n    d = {i: t for i, t in enumerate(ts)}\nreturn d[2] * x",
    "a dict that is updated": "d = {}\nwith torch.no_grad():\n    d.update(a=x * 2)\n    d.update({'b': x * 3, 'c': y})\n    d.setdefault('e', []).append(x * y)\nreturn (d['a'] + d['b']) * x + d['c'] + d['e'][0]",
    "a dict under a flag": SAMPLE + "def g(t, train):\n    with torch.set_grad_enabled(train):\n        out = sample(t)\n    return out['a'] * t\n\ndef f(x, y):\n    return g(x, True) + g(y, False)",
    "appended": "outs = []\nwith torch.no_grad():\n    for i in range(3):\n        outs.append(x * i)\n    outs.append(y)\n    outs.extend([x * 3, y * 2])\nreturn sum(outs) * x",
    "appended by a comprehension": "outs = []\nwith torch.no_grad():\n    [outs.append(x * i) for i in range(3)]\nreturn sum(outs) * x",
    "a deque": "from collections import deque\nq = deque()\nwith torch.no_grad():\n    q.append(x * 2)\nreturn q.pop() * x",
    "an object": "class Box:\n    def __init__(self, v):\n        self.v = v\n\ndef f(x, y):\n    b = Box(None)\n    with torch.no_grad():\n        b.v = x * 2\n        c = Box(y * 3)\n    return b.v * x + y * c.v",
    "what is no array": "import os\nfrom string import capwords\n\n\ndef f(x, y, root='a'):\n    with torch.no_grad():\n        name, path = capwords('a b'), os.path.join(root, 'b')\n        title = capwords('c')\n        where = os.path.join(root, title)\n        z = x * 2\n    return x * y * len(title) * len(where) + z * len(name + path)",
    "an object that keeps things": "class Cache:\n    def __init__(self):\n        self.items = []\n\n    def put(self, t):\n        self.items.append(t)\n\ndef f(x, y):\n    c = Cache()\n    with torch.no_grad():\n        c.put(x * 2)\n    return c.items[0] * x",
    "a generator": "@torch.no_grad()\ndef g(t):\n    for i in range(2):\n        u = t * i\n        yield u\n    yield from [t * 3, t]\n\ndef f(x, y):\n    return sum(g(x)) * x",
    "a block that yields": SAMPLE + "def g(t):\n    with torch.no_grad():\n        yield sample(t)\n\ndef f(x, y):\n    return [out['a'] for out in g(x)][0] * x",
    "the last turn of a loop": "def g(t):\n    yield t * 2\n    yield t * 3\n\ndef f(x, y):\n    with torch.no_grad():\n        for t in g(x):\n            pass\n    return t * x",
    "an attribute of what was computed": "with torch.no_grad():\n    m = x.max(dim=1)\n    v = m.values\n    t = x.T\nreturn v * x[:, 0] + (t @ x).sum()",
    "with an annotation": "with torch.no_grad():\n    z: torch.Tensor = x * 2\n    if x.dim() == (w := x * 3).dim():\n        z = z + w\nreturn z * x + w",
    "once where a parameter is set": "@torch.no_grad()\ndef g(t, n):\n    if n > 5:\n        t = t * 2\n    return t\n\ndef f(x, y):\n    return g(x, 3) * x + g(y, 7) * y",
    "what became part of a tensor": "@torch.no_grad()\ndef g(t):\n    z = torch.zeros(4, 6, dtype=torch.float64)\n    z.add_(t)\n    return z * 2\n\ndef f(x, y):\n    return g(x) * x",
    "written in it by a function": BORDER + "def f(x, y):\n    with torch.no_grad():\n        z = x * 2\n        border(z, y[:, :1])\n        w = z + 1\n    return w * y",
    "written by a function in a tensor from outside": BORDER + "def f(x, y):\n    z = x * 2\n    with torch.no_grad():\n        border(z, y[:, :1])\n        border(z[1:], 0.5)\n    return z * z * y",
    "written by a function through data": BORDER + "def f(x, y):\n    z, w = x * 2, y * 3\n    border(z.data, 0.5)\n    border(w, x[:, :1])\n    return z * z * w",
    "written by a function that gives another": BORDER.replace("v\n\n", "v\n    return v + 1\n\n") + "def f(x, y):\n    z = x * 2\n    with torch.no_grad():\n        s = border(z, y[:, :1])\n    return z * z * s",
    "in place of a tensor from outside": "z = x * 2\nwith torch.no_grad():\n    z.mul_(y)\n    z[0] = y[1]\n    z[1:] *= 2\n    torch.relu_(z)\nreturn z * z * y",
    "in place of a tensor from outside, of which the last call adds": "z = x * 2\nwith torch.no_grad():\n    z.mul_(y).add_(x)\nreturn z * z * y",
    "in place of a tensor from outside, by another name": "z = x * 2\nwith torch.no_grad():\n    w = z\n    w.mul_(y)\n    w[0] = y[1]\n    w[1:] *= 2\nreturn z * z * y",
    "in place of a view of a tensor from outside": "z, h = x * 2, x * y\nwith torch.no_grad():\n    row, flat = z[0], h.view(-1)\n    row = z[1:]\n    part = h.t()\n    part *= 3\n    row.mul_(y[1:])\n    torch.relu_(part)\nreturn z * z * y + h * h",
    "in place of rows of a tensor from outside": "z, h = x * 2, x * y\nwith torch.no_grad():\n    for row in z:\n        row.mul_(y[0])\n    a, b = h[0], h[1]\n    a.sin_()\n    b *= y[0]\n    c, d = z.split(3, 1)\n    e = d + c\nreturn z * z * y + h * h * e.sum()",
    "in place of a copy of a tensor from outside": "z = x * 2\nwith torch.no_grad():\n    w = z.clone()\n    w.mul_(y)\n    z.add_(w)\nreturn z * z * y",
}

VARIABLES = {
    "computed": "z = torch.autograd.Variable(x * y, requires_grad=True)\nreturn z * x",
    "an argument": "z = torch.autograd.Variable(x)\nreturn z * x",
    "the same memory": "z = x * 2\nw = torch.autograd.Variable(z)\nw.mul_(3)\nreturn z * x + w",
    "in a helper": "from torch.autograd import Variable\ndef g(t):\n    h = Variable(torch.ones(4, 6))\n    return Variable(t + 1) * t * h\ndef f(x, y):\n    return g(x * y)",
    "of a tensor made of another": "z = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) * x\nw = torch.tensor(z[0])\nreturn w * x",
}


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_has_no_history(name):
    compare(VARIABLES[name], three())


@pytest.mark.parametrize("name", LEAVING)
def test_what_leaves_a_block_is_constant(name):
    compare(LEAVING[name], three())


DATA = {
    "added": "z = x * 2\nz.data.add_(y)\nz.detach().mul_(x)\nreturn z * z",
    "assigned": "z = x * 2\nz.data = x * 3 + y\nreturn z * z",
    "an element": "z = x * 2\nz.data[0] = x[1] * 5\nz.data[1] += y[1]\nz.detach()[2] = 7.0\nreturn z * z",
    "by a mask": "z = x * 2\nz.data[z.data > 1] = 0\nz.data.masked_fill_(y > 1, 3.0)\nreturn z * z",
    "infinite in between": "z = x * 1\nz.data[0] = math.inf\nz.data[0] = 2\nreturn z * z",
    "clamped": "z = x * 2\nz.data.clamp_(-0.5, 0.5)\nF.relu_(z.data)\nreturn z * z * y",
    "a name for the data": "z = x * 2\nw = z.data\nw.mul_(y)\nreturn z * z + w",
    "a name that has been detached": "w = x.detach()\nw[0] = 5.0\nreturn w * x",
    "a name that becomes part": "z = x * 2\nw = z.detach()\nw.add_(y)\nreturn w * z",
    "of a view": "z = x * 2\nrow = z[:2]\nrow.data.mul_(3)\nz.view(-1).data[0] = 5\nz[3].data[1] = y[0, 0]\nreturn z * z, row * row",
    "of a constant": "z = torch.zeros_like(x)\nz.data.copy_(x)\nw = torch.ones_like(x)\nw.data = w.data + x\nreturn z * x + w * y",
    "the result of the write": "z = x * 2\nw = z.data.add_(y)\nreturn w * z + (x * 3).data.mul_(2) * y",
    "in a function": "def g(t):\n    t.data.mul_(2)\n\ndef f(x, y):\n    z = x * 2\n    g(z)\n    return z * z",
    "in a list": "zs = [x * 2, y * 2]\nzs[0].data.masked_fill_(x > 0.5, 3.0)\nreturn zs[0] * zs[0] + zs[1]",
    "in a branch on data": "z = x * 2\nif y.sum() > 0:\n    z.data.mul_(3)\nfor i in range(2):\n    z.data[i] = i\nreturn z * z",
}


@pytest.mark.parametrize("name", DATA)
def test_a_write_of_data_keeps_the_gradient(name):
    compare(DATA[name], three())


def test_data_written_and_read_with_its_gradient_in_one_expression_is_refused():
    result = convert_source(HEAD + "def f(x):\n    y = x * 2\n    return y.data.add_(x) * y\n")
    assert [d.id for d in result.diagnostics] == ["aliased-write"]


BUFFERS = {
    "updated": ("self.mean.data.mul_(0.5).add_(x.mean(0), alpha=0.5)", "lax.stop_gradient("),
    "copied": ("m = x.mean(0)\nself.mean.data.copy_(m)", "lax.stop_gradient("),
    "assigned": ("self.mean.data = 0.5 * self.mean.data + x.mean(0)", "lax.stop_gradient(0.5 * "),
    "by another name": ("mean = self.mean.data\nmean.mul_(0.5).add_(x.mean(0))", "lax.stop_gradient("),
    "an element": ("self.mean.data[0] = x[0, 1]", "lax.stop_gradient("),
    "of a submodule": ("self.norm.running_mean.data.copy_(x.mean(0))\nx = x + self.norm.running_mean", "lax.stop_gradient("),
    "by constants": ("self.mean.data.mul_(0.5).add_(1)\nself.mean.detach().copy_(self.mean * 2)", 'state["mean"] = lax.stop_gradient(state["mean"] * 0.5 + 1)\n'),
    "hidden state": ("self.mean = x.sum(0) * 2\nself.mean.data.mul_(x[0])", "nn.set_data("),
}


@pytest.mark.parametrize("name", BUFFERS)
def test_a_write_of_the_data_of_a_buffer(name):
    body, text = BUFFERS[name]
    made = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('mean', torch.zeros(6))\n        self.norm = nn.BatchNorm1d(6)\n\n    def forward(self, x):\n"
    source = HEAD + made + "".join(f"        {line}\n" for line in body.splitlines()) + "        return x * self.mean\n"
    result = convert_source(source)
    assert not result.diagnostics and text in result.code, result.code
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    with float64():
        torch_module, jax_module = scope["M"]().double(), load(result)["M"]()
        params, state = from_torch(torch_module, jax_module)
        x = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
        want = torch_module(x)
        want.sin().sum().backward()
        got, back = jax.vjp(lambda x: jax_module.apply(params, state, x)[0], jnp.asarray(x.detach().numpy()))
        np.testing.assert_allclose(got, want.detach().numpy(), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(back(jnp.cos(got))[0], x.grad.numpy(), rtol=1e-12, atol=1e-12)


def test_suspended_block():
    """A generator that yields inside of no_grad turns gradients off for whoever takes from it, until it is left; a decorated one does not."""
    inside = "def g(t):\n    with torch.no_grad():\n        yield t * 2\ndef f(x, y):\n    return [v * x for v in g(y)]"
    assert reported(inside) == {"taken-for-granted"}
    assert not reported("def g(t):\n    with torch.no_grad():\n        u = t * 2\n    yield u\ndef f(x, y):\n    return [v * x for v in g(y)]")
    assert not reported("@torch.no_grad()\ndef g(t):\n    yield t * 2\ndef f(x, y):\n    return [v * x for v in g(y)]")


OBJECT = """import torch
from torch import nn


class Prior(object):
    def __init__(self, k):
        self.k = k

    def forward(self):
        return torch.ones(self.k)


class Inner(nn.Module):
    def forward(self, x):
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, make):
        boxes = make(4)
        with torch.no_grad():
            boxes = boxes.forward()
        return self.inner(self.fc(x)) * boxes
"""


def test_forward_of_an_object_beside_modules():
    """Which classes have a `forward` is found before those of modules have another name."""
    assert {d.id for d in convert_source(OBJECT).diagnostics} == {"taken-for-granted"}
