"""Where gradients stop: what leaves a block under no_grad in any way."""

import pytest

from .small_programs import compare, three

pytestmark = pytest.mark.usefixtures("wide")

SAMPLE = "def sample(t):\n    return {'z': t * 2, 'a': t * 3}\n\n"
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
    "an object that keeps things": "class Cache:\n    def __init__(self):\n        self.items = []\n\n    def put(self, t):\n        self.items.append(t)\n\ndef f(x, y):\n    c = Cache()\n    with torch.no_grad():\n        c.put(x * 2)\n    return c.items[0] * x",
    "a generator": "@torch.no_grad()\ndef g(t):\n    for i in range(2):\n        u = t * i\n        yield u\n    yield from [t * 3, t]\n\ndef f(x, y):\n    return sum(g(x)) * x",
    "a block that yields": SAMPLE + "def g(t):\n    with torch.no_grad():\n        yield sample(t)\n\ndef f(x, y):\n    return [out['a'] for out in g(x)][0] * x",
    "the last turn of a loop": "def g(t):\n    yield t * 2\n    yield t * 3\n\ndef f(x, y):\n    with torch.no_grad():\n        for t in g(x):\n            pass\n    return t * x",
    "an attribute of what was computed": "with torch.no_grad():\n    m = x.max(dim=1)\n    v = m.values\n    t = x.T\nreturn v * x[:, 0] + (t @ x).sum()",
    "with an annotation": "with torch.no_grad():\n    z: torch.Tensor = x * 2\n    if x.dim() == (w := x * 3).dim():\n        z = z + w\nreturn z * x + w",
    "once where a parameter is set": "@torch.no_grad()\ndef g(t, n):\n    if n > 5:\n        t = t * 2\n    return t\n\ndef f(x, y):\n    return g(x, 3) * x + g(y, 7) * y",
    "what became part of a tensor": "@torch.no_grad()\ndef g(t):\n    z = torch.zeros(4, 6, dtype=torch.float64)\n    z.add_(t)\n    return z * 2\n\ndef f(x, y):\n    return g(x) * x",
}


@pytest.mark.parametrize("name", LEAVING)
def test_what_leaves_a_block_is_constant(name):
    compare(LEAVING[name], three())
