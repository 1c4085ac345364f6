"""The rest of Python and torch in forward code: arguments, state on self, data-dependent shapes, helpers of all kinds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.small_programs import HEAD, array, compare, leaves, load, source_of, three
from transpile import convert_source, from_torch

pytestmark = pytest.mark.usefixtures("wide")

PROGRAMS = {
    "a tensor that is the object's alone": "class Meter:\n    def __init__(self):\n        self.sum, self.count = 0, 0\n\n    def update(self, val, n=1):\n        self.val = val\n        self.sum += val * n\n        self.count += n\n        self.avg = self.sum / self.count\n\n\ndef f(x, y):\n    m = Meter()\n    m.update(x)\n    a = m.avg\n    m.update(y, 2)\n    return a * m.avg * m.val",
    "a choice of writes as a statement": "z = x * y\nz.clamp_(0, 1) if x.ndim == 1 else z.add_(1) if y.ndim == 2 else None\nreturn z",
    "masked sum": "m = x > 0\nreturn x[m].sum() + y[m].mean()",
    "masked count": "return x * (x > 0).sum()",
    "masked assignment of the same mask": "z = x.clone()\nm = y > 0\nz[m] = y[m]\nreturn z",
    "masked update": "z = x.clone()\nm = y > 0\nz[m] = z[m] * 2\nreturn z",
    "nonzero as a weight": "return (x != 0).float().mean() + y",
    "masked assignment over rows": "z = x.clone()\nm = y[:, 0] > 0\nz[m] = y[m] * 2\nreturn z",
    "masked augmented": "z = x.clone()\nm = y > 0\nz[m] += y[m]\nreturn z",
    "window": "i = int((x > 0).sum()) % 3\nreturn x[i : i + 2] * y[:2]",
    "window of columns": "i = int((x > 0).sum()) % 3\nreturn x[:, i : i + 2] * y[:, :2]",
    "window stored": "z = x.clone()\ni = int((y > 0).sum()) % 3\nz[i : i + 2] = y[:2]\nreturn z",
    "window from behind, of less": "z = x.clone()\ni = int((y > 0).sum()) % 3\nz[..., i : i + 2] += y[:, :2]\nz[:, i : 2 + i] = y[:1, :2]\nz[i : i + 2] = 0.5\nreturn z, x[..., i : i + 2]",
    "two stores in one": "z, w = x.clone(), y.clone()\nz[0] = w[1] = x[2] * 2\nz[1] = z[2] = 0.0\nreturn z, w",
    "type of a dtype": "def g(t, dtype=torch.float64):\n    return t.cos().type(dtype)\n\n\ndef f(x, y):\n    z = g(x)\n    return z.to(y.device, dtype=y.dtype) * y if z.type() == y.type() else y",
    "one hot": "i = x.argmax(dim=1)\nreturn F.one_hot(i, 6).to(x.dtype) * y",
    "gather of an argmax": "i = x.argmax(dim=1, keepdim=True)\nreturn y.gather(1, i)",
    "advanced index": "i = torch.arange(4)\nj = x.argmax(1)\nreturn y[i, j]",
    "isinstance of a tensor": "z = x if isinstance(x, torch.Tensor) else torch.tensor(x)\nreturn z * y",
    "is_tensor": "return x + y if torch.is_tensor(y) else x",
    "len of a tensor": "return x / len(x) + y",
    "unpacked rows": "a, b, c, d = x\nreturn a * b + c - d + y.sum()",
    "starred rows": "a, *rest = x\nreturn a + sum(rest) * y[0]",
    "zip of rows": "return torch.stack([a * b for a, b in zip(x, y)])",
    "enumerate of rows": "return torch.stack([row * i for i, row in enumerate(x)]) + y",
    "reversed list": "parts = [x, y, x * y]\nz = 0\nfor p in reversed(parts):\n    z = z * 0.5 + p\nreturn z",
    "sorted keys": "d = {'b': x, 'a': y}\nreturn torch.cat([d[k] for k in sorted(d)])",
    "dict of tensors": "d = {'a': x}\nd['b'] = d['a'] * y\nd.update(c=x + 1)\nreturn d['a'] + d['b'] * d['c']",
    "dict returned": "return {'product': x * y, 'sum': x + y}",
    "nested tuples": "return (x, (y, x + y)), [x * y]",
    "default argument": "def g(t, scale=2.0):\n    return t * scale\nreturn g(x) + g(y, 3.0) + g(x, scale=0.5)",
    "starred arguments": "def g(*ts):\n    return sum(ts)\nreturn g(x, y, x * y)",
    "keyword arguments": "def g(t, **kw):\n    return t * kw['scale'] + kw.get('shift', 0.0)\nreturn g(x, scale=2.0) + g(y, scale=1.0, shift=3.0)",
    "passing keywords on": "def g(t, **kw):\n    return F.softmax(t, **kw)\nreturn g(x, dim=1) + g(y, dim=0)",
    "lambda in a list": "fs = [torch.tanh, lambda t: t * 2, F.relu]\nz = x\nfor f in fs:\n    z = f(z)\nreturn z + y",
    "map": "return sum(map(lambda t: t.sum(), [x, y]))",
    "nested comprehension": "return torch.stack([torch.stack([x[i, j] * y[i, j] for j in range(3)]) for i in range(2)])",
    "generator in sum": "return sum(x[i] * i for i in range(4)) + y[0]",
    "filter by shape": "return torch.cat([t for t in [x, y, x[0]] if t.dim() == 2])",
    "walrus": "if (n := x.size(1)) > 3:\n    return x * n\nreturn y",
    "string switch": "mode = 'sum'\nreturn {'sum': x + y, 'mul': x * y}[mode]",
    "assert on shapes": "assert x.shape == y.shape, 'shapes'\nreturn x + y",
    "print of a shape": "print('shape', x.shape)\nreturn x + y",
    "chained comparison of sizes": "return x if 1 < x.size(0) < 10 else y",
    "None default": "def g(t, m=None):\n    if m is not None:\n        t = t * m\n    return t\nreturn g(x) + g(x, y)",
    "or default": "def g(t, m=None):\n    m = m or 2\n    return t * m\nreturn g(x) + g(y, 3)",
    "global constant": "SCALE = 0.5\n\n\ndef f(x, y):\n    return x * SCALE + y",
    "global tensor": "TABLE = torch.arange(6.0)\n\n\ndef f(x, y):\n    return x * TABLE + y",
    "mutual calls": "def even(t, n):\n    return t if n == 0 else odd(t * 0.5, n - 1)\n\n\ndef odd(t, n):\n    return t + 1 if n == 0 else even(t, n - 1)\n\n\ndef f(x, y):\n    return even(x, 4) + odd(y, 3)",
    "recursion over a list": "def total(ts):\n    return ts[0] if len(ts) == 1 else ts[0] + total(ts[1:])\n\n\ndef f(x, y):\n    return total([x, y, x * y])",
    "checkpoint": "from torch.utils.checkpoint import checkpoint\n\n\ndef block(t, u):\n    return torch.tanh(t) * u\n\n\ndef f(x, y):\n    return checkpoint(block, x, y, use_reentrant=False)",
    "a choice of autograd functions": "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t, u):\n        return t * 2 + u\n\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2, g\n\n\nclass Thrice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t, u):\n        return t * 3 + u\n\n    @staticmethod\n    def backward(ctx, g):\n        return g * 3, g\n\n\ndef f(x, y):\n    run = Twice.apply if y.shape[0] == 4 else Thrice.apply\n    return run(x, y).sum(0)",
    "autograd function": "class Double(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t):\n        ctx.save_for_backward(t)\n        return t * 2\n\n    @staticmethod\n    def backward(ctx, g):\n        (t,) = ctx.saved_tensors\n        return g * t\n\n\ndef f(x, y):\n    return Double.apply(x) + y",
    "namedtuple": "from collections import namedtuple\n\nPair = namedtuple('Pair', ['a', 'b'])\n\n\ndef f(x, y):\n    p = Pair(x, y * 2)\n    return p.a * p.b",
    "typing NamedTuple": "from typing import NamedTuple\n\n\nclass Pair(NamedTuple):\n    a: torch.Tensor\n    b: torch.Tensor\n\n\ndef f(x, y):\n    p = Pair(x, y * 2)\n    return p.a * p.b",
    "device plumbing": "z = torch.zeros(x.size(0), 1, device=x.device, dtype=x.dtype)\nw = torch.arange(6, device=x.device).type_as(x)\nreturn x + z + w.to(y.device) * y.to(dtype=x.dtype)",
    "new tensors": "return x.new_zeros(x.size()) + y.new_full((4, 1), 2.0) + x.new_empty(0).sum()",
    "detach": "w = (x.detach() * 2).exp()\nreturn w * y + x",
    "data": "return x * y.data",
    "detached clone": "return x * y.clone().detach()",
    "argument changed": "def g(t, v):\n    t += v\n\n\ndef f(x, y):\n    z = x * 1\n    g(z, y)\n    return z",
    "argument changed and returned": "def g(t, v):\n    t.mul_(v)\n    return t.sum()\n\n\ndef f(x, y):\n    z = x * 1\n    s = g(z, y)\n    return z * s",
    "two arguments changed": "def swap(a, b):\n    t = a.clone()\n    a.copy_(b)\n    b.copy_(t)\n\n\ndef f(x, y):\n    u, v = x * 1, y * 2\n    swap(u, v)\n    return u - 3 * v",
    "row of an argument changed": "def g(t):\n    t[0] = 0.0\n\n\ndef f(x, y):\n    z = x * y\n    g(z)\n    return z",
    "part passed and changed": "def g(t):\n    t.mul_(2)\n\n\ndef f(x, y):\n    z = x * y\n    g(z[1])\n    return z",
    "changed through two calls": "def inner(t):\n    t.add_(1)\n\n\ndef outer(t):\n    inner(t)\n    t.mul_(2)\n\n\ndef f(x, y):\n    z = x * y\n    outer(z)\n    return z",
    "changed in an expression": "def g(t):\n    t.add_(1)\n    return t * 2\n\n\ndef f(x, y):\n    z = x * y\n    w = y + g(z)\n    return z, w",
    "list filled by a callee": "def fill(out, t):\n    out.append(t * 2)\n\n\ndef f(x, y):\n    out = []\n    fill(out, x)\n    fill(out, y)\n    return torch.stack(out)",
    "tensor slot of a list": "z = [x * 1, y * 1]\nfor i in range(2):\n    z[i] = z[i] + 1\nz[0].mul_(2)\nreturn z[0] + z[1]",
    "swapped names": "a, b = x * 1, y * 1\na, b = b, a\na.add_(1)\nreturn a, b",
    "out argument": "z = torch.empty_like(x)\ntorch.add(x.detach(), y.detach(), out=z)\nreturn z * 2 + x",
    "index_copy": "z = x.clone()\nz.index_copy_(0, torch.tensor([2, 0]), y[:2])\nreturn z",
    "index_fill": "z = x.clone()\nz.index_fill_(1, torch.tensor([1, 3]), -1.0)\nreturn z * y",
    "masked_fill_": "z = x.clone()\nz.masked_fill_(y > 0, -1.0)\nreturn z * y",
    "masked_scatter by place": "z = x.clone()\nz[0].masked_fill_(y[0] > 0, 0.0)\nreturn z",
    "scatter with duplicates": "i = torch.zeros(4, 6, dtype=torch.long)\nreturn torch.zeros_like(x).scatter_add(1, i, y) + x",
    "fill_diagonal_": "z = x[:, :4].clone()\nz.fill_diagonal_(0.0)\nreturn z * y[:, :4]",
    "squeeze written": "z = x.clone().unsqueeze(0)\nz.squeeze(0)[1] = 2.0\nreturn z[0] * y",
    "expand is read only": "z = x[:1].expand(4, -1)\nreturn z * y",
    "negative step": "return x.flip(0)[:, ::2] + y[:, 1::2]",
    "ellipsis store": "z = x.clone()\nz[..., 0] = y[..., 1]\nreturn z",
    "None index": "return x[:, None, :] * y[None, :, :]",
    "augmented index": "z = x.clone()\nz[:, 1] += y[:, 0]\nz[0] *= 2\nz[1] -= 1\nz[2] /= 2\nreturn z",
    "augmented power": "z = x.detach().abs() + 1\nz **= 2\nz //= 3\nz %= 2\nreturn z + y",
}  # fmt: skip

# views through which a write does not follow yet: refused
REFUSED = {
    "the condition of a loop writes": "def f(x, y):\n    while x.add_(-1).sum() > 0:\n        y = y + x\n    return y",
    "a tensor that an object is given": "class Sum:\n    def __init__(self, t):\n        self.t = t\n\n    def add(self, x):\n        self.t += x\n\n\ndef f(x, y):\n    z = x * 1\n    Sum(z).add(y)\n    return z",
    "a tensor that an object gives away": "class Sum:\n    def __init__(self):\n        self.t = torch.zeros(4, 6)\n\n    def add(self, x):\n        self.t += x\n        return self.t\n\n\ndef f(x, y):\n    s = Sum()\n    a = s.add(x)\n    return a * s.add(y)",
    "inplace that the run decides": "z = x * 1\nw = F.relu(z, y.dim() == 2)\nreturn w + z",
    "list of views": "z = x.clone()\nparts = [z[0], z[1]]\nfor p in parts:\n    p.mul_(2.0)\nreturn z + y",
    "conditional view": "z = x.clone()\nw = z[0] if x.dim() == 2 else z\nw.add_(1)\nreturn z * y",
    "unbind written": "z = x.clone()\nrows = z.unbind(0)\nrows[1].zero_()\nreturn z + y",
}  # fmt: skip

# classes: (definitions, constructor, number of calls): outputs of each call, with the state handed on
MODULES = {
    "state changed while it is built": "class M(nn.Module):\n    def __init__(self, track=True):\n        super().__init__()\n        if track:\n            self.register_buffer('low', torch.zeros(6))\n            self.low -= 0.5\n\n    def forward(self, x):\n        if self.training:\n            self.low = torch.min(self.low, x.min(0)[0])\n        return x - self.low",
    "a buffer made in two steps": "class M(nn.Module):\n    def __init__(self, bins=5):\n        super().__init__()\n        edges = torch.arange(bins + 1, dtype=torch.float64) / bins\n        self.register_buffer('edges', edges)\n        self.edges[-1] += 0.5\n\n    def forward(self, x):\n        return x * self.edges",
    "lengths as a list": "from torch.nn.utils.rnn import pack_padded_sequence\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.rnn = nn.GRU(3, 2, batch_first=True)\n\n    def forward(self, x):\n        lengths = (x[:, 0] * 0).long() + 2\n        packed = pack_padded_sequence(x.view(4, 2, 3), lengths.data.tolist(), batch_first=True)\n        return self.rnn(packed)[1]",
    "super without params": "class A(nn.Module):\n    def forward(self, x, k=1):\n        return torch.sigmoid(x) * k\n\n\nclass B(A):\n    def __init__(self):\n        super(B, self).__init__()\n\n    def forward(self, x):\n        return super(B, self).forward(x, 2)\n\n\nclass M(A):\n    def __init__(self):\n        super().__init__()\n        self.b = B()\n\n    def forward(self, x):\n        return super().forward(x) + A.forward(self, x, 3) * self.b(x)",
    "entry of a ParameterList": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.ps = nn.ParameterList([nn.Parameter(torch.ones(6) * i) for i in range(2)])\n\n    def forward(self, x):\n        return x * self.ps[1]",
    "weight_norm by its module": "from torch.nn.utils.weight_norm import weight_norm\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.l = weight_norm(nn.Linear(6, 3))\n\n    def forward(self, x):\n        return self.l(x)",
    "layers of several kinds from one function": "import copy\n\n\ndef clones(module, n):\n    return nn.ModuleList([copy.deepcopy(module) for _ in range(n)])\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lines = clones(nn.Linear(6, 6), 2)\n        self.norms = clones(nn.BatchNorm1d(6), 2)\n\n    def forward(self, x):\n        for norm, line in zip(self.norms, self.lines):\n            x = torch.tanh(norm(line(x)))\n        return x",
    "a class chosen, its instances too": "class M(nn.Module):\n    def __init__(self, cell='gru', both=True):\n        super().__init__()\n        make = nn.LSTMCell if cell == 'lstm' else nn.GRUCell\n        self.front = make(6, 3)\n        if both:\n            self.back = make(6, 3)\n\n    def forward(self, x):\n        return self.run(x) + self.run(x, reverse=True)\n\n    def run(self, x, reverse=False):\n        cell = self.back if reverse else self.front\n        h = torch.zeros(x.shape[0], cell.hidden_size, dtype=x.dtype)\n        for _ in range(2):\n            h = cell(x, h)\n        return h",
    "an attribute of any make under another name": "TABLE = {'a': nn.Tanh, 'b': nn.Sigmoid}\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = TABLE['a']()\n        self.b = TABLE['b']()\n\n    def forward(self, x):\n        act = self.b if x.shape[0] > 100 else self.a\n        return act(x)",
    "a Sequential that begins in place": "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.block = nn.Sequential(nn.ELU(inplace=True), nn.BatchNorm1d(6), nn.ReLU(True), nn.Linear(6, 6))\n\n    def forward(self, x):\n        return x + self.block(x)\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.net = nn.Sequential(nn.Linear(6, 6), Block(), Block())\n        self.head = nn.Sequential(nn.Identity(), nn.ELU(inplace=True), nn.Linear(6, 6))\n\n    def forward(self, x):\n        x = self.net(x)\n        y = self.head(x)\n        return x * y",
    "annotated parameters": "class M(nn.Module):\n    def __init__(self, f=float):\n        super().__init__()\n        for k in range(2):\n            scale = f(k + 1)\n        self.w: torch.Tensor = nn.Parameter(torch.ones(6) * scale)\n        for k in range(2):\n            self.v: torch.Tensor = nn.Parameter(torch.ones(6) * k)\n\n    def forward(self, x):\n        return x * self.w + self.v",
    "parameters in turn": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.params = nn.ParameterList([nn.Parameter(torch.rand(6)) for _ in range(3)])\n\n    def forward(self, x):\n        y = 0\n        for i, param in enumerate(self.params):\n            y += (i + 1) * param * x\n        return y",
    "a frozen parameter that forward writes": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.mean = nn.Parameter(torch.zeros(6), requires_grad=False)\n\n    def forward(self, x):\n        if self.training:\n            self.mean.data.mul_(0.9).add_(0.1, x.mean(0))\n        return x - self.mean",
    "state through branches and loops": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bn = nn.BatchNorm1d(6)\n\n    def inner(self, x):\n        return self.bn(x)\n\n    def forward(self, x):\n        if x.sum() > 100:\n            return self.inner(x)\n        i = 0\n        while i < 9 and x.sum() < 0:\n            x = self.inner(x) + 1\n            i += 1\n        if x.sum() > 1:\n            x = self.inner(x)\n        return self.inner(x * 2)",
    "modules passed to functions": "def attend(q, drop=None):\n    p = F.softmax(q, dim=-1)\n    if drop is not None:\n        p = drop(p)\n    return p\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.l = nn.Linear(6, 6)\n        self.drop = nn.Dropout(0.0)\n\n    def run(self, layer, x):\n        return layer(x) + 1\n\n    def forward(self, x):\n        return attend(x, drop=self.drop) * self.run(self.l, x)",
    "options that are none": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.table = nn.Embedding(6, 3, padding_idx=None, max_norm=None, sparse=False)\n\n    def forward(self, x):\n        return self.table((x * 0).long()) * x[..., None]",
    "parameter or number": "class M(nn.Module):\n    def __init__(self, p=3.0, fixed=True):\n        super().__init__()\n        self.p = p if fixed else nn.Parameter(torch.ones(1) * p)\n        self.q = p if not fixed else nn.Parameter(torch.ones(1) * p)\n\n    def forward(self, x):\n        return x * self.p + self.q",
    "called without forward": "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.l = nn.Linear(6, 6)\n\n    def __call__(self, x):\n        return self.l(x)\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = A()\n\n    def forward(self, x):\n        return self.a(x) * 2",
    "called around forward": "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.l = nn.Linear(6, 6)\n\n    def __call__(self, x, *args):\n        return super().__call__(x, *args) + 1\n\n    def forward(self, x):\n        return self.l(x)\n\n\nclass B(A):\n    def forward(self, x):\n        return super().forward(x) * 2\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a, self.b = A(), B()\n\n    def forward(self, x):\n        return self.a(x) * 2 + self.b(x)",
    "buffers under computed names": "class M(nn.Module):\n    def __init__(self, name='m'):\n        super().__init__()\n        self.name = name\n        for i in range(2):\n            self.register_buffer(f'b{i}', torch.full((6,), float(i + 1)))\n        for n, v in (('p', 1.0), ('q', 2.0)):\n            self.register_buffer(n, torch.full((6,), v))\n        self.register_buffer(name, torch.ones(6))\n\n    def forward(self, x):\n        for i in range(2):\n            x = x * getattr(self, 'b%d' % i)\n        return x * self.b1 + self.p * self.q + getattr(self, self.name)",
    "a word of Python's as a name": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.add_module('nonlocal', nn.Linear(6, 6))\n\n    def forward(self, x):\n        layer = getattr(self, 'nonlocal')\n        return layer(x)",
    "flattened parameters": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.rnn = nn.GRU(6, 4)\n\n    def forward(self, x):\n        self.rnn.flatten_parameters()\n        return self.rnn(x)[0]",
    "tensor type": "class M(nn.Module):\n    def __init__(self, tensor=torch.FloatTensor):\n        super().__init__()\n        self.Tensor = tensor\n\n    def forward(self, x):\n        return x + self.Tensor(x.size()).fill_(0.5) * self.Tensor([2.0])",
    "partial kept on self": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        from functools import partial\n        self.act = partial(F.leaky_relu, negative_slope=0.2)\n\n    def forward(self, x):\n        return self.act(x)",
    "factory keywords": "class M(nn.Module):\n    def __init__(self, norm=nn.LayerNorm, device=None, dtype=None):\n        super().__init__()\n        dd = {'device': device, 'dtype': dtype}\n        self.l = nn.Linear(6, 6, **dd)\n        self.n = norm(6, **dd)\n        self.w = nn.Parameter(torch.ones(6, **dd))\n\n    def forward(self, x):\n        return self.n(self.l(x)) * self.w",
    "local made under a condition": "class M(nn.Module):\n    def __init__(self, window=None):\n        super().__init__()\n        if window is not None:\n            size = window * 2\n            self.w = nn.Parameter(torch.ones(size))\n        self.l = nn.Linear(6, 6)\n\n    def forward(self, x):\n        return self.l(x)",
    "counter": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('n', torch.zeros(()))\n\n    def forward(self, x):\n        self.n += 1\n        return x * self.n",
    "running mean": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('mean', torch.zeros(6))\n\n    def forward(self, x):\n        with torch.no_grad():\n            self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)\n        return x - self.mean",
    "hidden state": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.h = None\n\n    def forward(self, x):\n        if self.h is None:\n            self.h = torch.zeros_like(x)\n        self.h = torch.tanh(self.h + x)\n        return self.h",
    "counter that is asked": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('n', torch.zeros((), dtype=torch.long))\n\n    def forward(self, x):\n        self.n += 1\n        if self.n > 1:\n            return x * 2\n        return x",
    "queue": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('queue', torch.zeros(8, 6))\n        self.register_buffer('at', torch.zeros(1, dtype=torch.long))\n\n    def forward(self, x):\n        i = int(self.at)\n        self.queue[i : i + 4] = x.detach()\n        self.at[0] = (i + 4) % 8\n        return x @ self.queue.t()",
    "method that writes": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('total', torch.zeros(6))\n\n    def add(self, x):\n        self.total += x.sum(0).detach()\n        return self.total.mean()\n\n    def forward(self, x):\n        a = self.add(x)\n        b = self.add(x * 2)\n        return x * a + b",
    "property": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.weight = nn.Parameter(torch.ones(6) * 2)\n\n    @property\n    def scale(self):\n        return self.weight.exp()\n\n    def forward(self, x):\n        return x * self.scale",
    "a pair by a function": "from torch.nn.modules.utils import _ntuple\n\nto_2tuple = _ntuple(2)\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.size, self.step = to_2tuple(4), to_2tuple([1, 2])\n        self.count = self.size[0] // self.step[1]\n\n    def forward(self, x):\n        return x[:, : self.count] * self.step[1] + self.size[1]",
    "pair of a stride": "from torch.nn.modules.utils import _pair\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.stride = _pair(2)\n\n    def forward(self, x):\n        n = math.ceil(float(x.size(1)) / float(self.stride[0]))\n        return x[:, :n] * int(self.stride[1])",
    "static method": "class M(nn.Module):\n    @staticmethod\n    def act(x):\n        return x * torch.sigmoid(x)\n\n    def forward(self, x):\n        return self.act(x) + M.act(x)",
    "inner module with a counter": "class Inner(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('n', torch.zeros(()))\n\n    def forward(self, x):\n        self.n += 1\n        return x * self.n\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = Inner()\n        self.b = nn.ModuleList([Inner(), Inner()])\n\n    def forward(self, x):\n        x = self.a(x) + self.a(x)\n        for m in self.b:\n            x = m(x)\n        return x",
    "stateful under a branch": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bn = nn.BatchNorm1d(6)\n        self.register_buffer('n', torch.zeros(()))\n\n    def forward(self, x):\n        if x.mean() > 0:\n            x = self.bn(x)\n            self.n += 1\n        return x * (self.n + 1)",
    "list of layers that grows": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.post = nn.ModuleList()\n        for _ in range(2):\n            self.post += [nn.BatchNorm1d(6)]\n        self.post += [nn.Tanh()]\n        self.tail = nn.Sequential(nn.BatchNorm1d(6)) + nn.Sequential(nn.ReLU())\n\n    def forward(self, x):\n        for m in self.post:\n            x = m(x)\n        return self.tail(x)",
    "private names": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.__n = 6\n        self.__norm = nn.BatchNorm1d(self.__n)\n        self.__w = nn.Parameter(torch.ones(self.__n) * 2)\n\n    def forward(self, x):\n        return self.__norm(x) * self.__w",
    "one module under two names": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        norm = nn.BatchNorm1d(6)\n        self.first = norm\n        self.second = norm\n        self.third = self.first\n\n    def forward(self, x):\n        return self.third(self.second(self.first(x)))",
    "a list that becomes modules on one way": "class M(nn.Module):\n    def __init__(self, n=2):\n        super().__init__()\n        if n == 2:\n            self.stages = []\n            for _ in range(n):\n                self.stages.extend([nn.BatchNorm1d(6), nn.Tanh()])\n            self.stages = nn.Sequential(*self.stages)\n        else:\n            self.stages = nn.Sequential(nn.BatchNorm1d(6))\n\n    def forward(self, x):\n        return self.stages(x)",
    "a list that becomes modules": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.stages = []\n        for _ in range(2):\n            self.stages.append(nn.BatchNorm1d(6))\n        self.stages = nn.Sequential(*self.stages)\n\n    def forward(self, x):\n        return self.stages(x)",
    "options of a layer by their places": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layer = nn.EmbeddingBag(6, 3, None, 2.0, False, 'sum')\n\n    def forward(self, x):\n        return self.layer(x.argsort(1))",
    "names that calls take": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('n', torch.zeros(()))\n        self.key = nn.BatchNorm1d(6)\n        self.drop = nn.Dropout(0.0)\n\n    def count(self, x):\n        self.n += 1\n        return x * self.n\n\n    def forward(self, x):\n        key = x * 2\n        key = self.count(key)\n        params, state = self.key(x), self.key(key)\n        training = self.drop(key + params) * state\n        return self.key(training + key)",
    "a bias tied both ways": 'class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.decoder = nn.Linear(6, 6)\n        nn.init.constant_(self.decoder.weight, 0.1)\n        self.bias = nn.Parameter(torch.ones(6) * 3)\n        self.decoder.bias = self.bias\n\n    def forward(self, x):\n        return self.decoder(x)\n\n    def _tie_weights(self):\n        self.bias = self.decoder.bias',
    "a table that grows": 'class M(nn.Module):\n    def __init__(self, n=5):\n        super().__init__()\n        self.pe = None\n        self.extend(torch.tensor(0.0).expand(1, n))\n\n    def extend(self, x):\n        if self.pe is not None:\n            if self.pe.size(0) >= x.size(1):\n                return\n        pe = torch.zeros(x.size(1), 6)\n        pe[:, 0] = torch.arange(x.size(1))\n        self.pe = pe\n\n    def forward(self, x):\n        self.extend(x.t())\n        return x + self.pe[: x.size(0)]',
    "modules in a dict and a list": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.norms = {}\n        for i in range(2):\n            self.norms[('norm', i)] = nn.BatchNorm1d(6)\n        self.parts = nn.ModuleList(list(self.norms.values()))\n        self.more = []\n        for i in range(2):\n            self.more.append(nn.BatchNorm1d(6))\n        self.net = nn.Sequential(*self.more)\n\n    def forward(self, x):\n        for i in range(1, -1, -1):\n            x = self.norms[('norm', i)](x)\n        for part in self.more:\n            x = part(x)\n        return x",
    "stack with a keyword": "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(6, 6)\n        nn.init.constant_(self.fc.weight, 0.1)\n        nn.init.zeros_(self.fc.bias)\n\n    def forward(self, x, scale, mask=None):\n        return self.fc(x) * scale + mask\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.blocks = nn.ModuleList(Block() for _ in range(3))\n\n    def forward(self, x):\n        mask = torch.ones_like(x)\n        for block in self.blocks:\n            x = block(x, 2.0, mask=mask)\n        return x",
    "stateful in a loop over time": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bn = nn.BatchNorm1d(6)\n\n    def forward(self, x):\n        h = torch.zeros_like(x)\n        for t in range(x.size(0)):\n            h = torch.tanh(self.bn(h + x) + x[t])\n        return h",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name], three())


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    result = convert_source(source_of(REFUSED[name]))
    assert {d.id for d in result.diagnostics} == {"aliased-write"}, result.code


@pytest.mark.parametrize("made", ["nn.Embedding(6, 3, 0, 1.0)", "nn.Embedding(6, 3, max_norm=1.0)", "nn.EmbeddingBag(6, 3, None, 2.0, True, 'sum')"])
def test_an_option_by_its_place_is_not_left_out(made):
    result = convert_source(HEAD + f"class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layer = {made}\n\n    def forward(self, x):\n        return self.layer(x.long())\n")
    assert "unsupported" in {d.id for d in result.diagnostics}, result.code


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("name", MODULES)
def test_module(name, training):
    source = HEAD + MODULES[name] + "\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    torch_module, jax_module = scope["M"]().double().train(training), load(result)["M"]()
    params, state = from_torch(torch_module, jax_module)
    run = jax.jit(lambda params, state, x: jax_module.apply(params, state, x, key=jax.random.key(1), training=training))
    for x, _ in three():
        for _ in range(2):
            want = leaves(torch_module(x.clone()))
            got, state = run(params, state, jnp.asarray(x.numpy()))
            for g, w in zip(leaves(got), want, strict=True):
                np.testing.assert_allclose(g, array(w), 1e-9, 1e-9, err_msg=result.code)


def test_what_frees_memory_goes():
    source = HEAD + "def f(x, rows):\n    y, z = x * 2, x + 1; w = y + z; del y\n    if w.sum() > 0:\n        u = w * 2\n        w = w + u\n        del u\n    rows = dict(rows)\n    del rows['a'], z\n    return w, rows\n"
    code = convert_source(source).code
    assert "    y, z = x * 2, x + 1\n    w = y + z\n" in code and "    del rows[\"a\"]\n" in code and code.count("del ") == 1 and "nn.choose(" in code, code


def test_what_rules_leave_of_placement_goes():
    source = HEAD + "def f(x, y):\n    x = x.cuda()\n    if y.is_cuda:\n        y = y.cpu()\n    x = x\n    y = y.contiguous()  # kept with its comment\n    return x + y\n"
    body = convert_source(source).code.split("def f(x, y):\n")[1]
    assert body == "    x = x\n    y = y  # kept with its comment\n    return x + y\n"
