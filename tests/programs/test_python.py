"""Python around the tensors: classes, decorators, generators, keywords, printing, custom gradients, masks."""

import jax
import numpy as np
import pytest

from tests.small_programs import both, compare, reported, three

pytestmark = pytest.mark.usefixtures("wide")

# name -> body of `def f(x, y)`, or definitions that end in an `f`
PROGRAMS = {
    "masked max": "m = y > -5\nreturn x[m].max() + x[m].min()",
    "count_nonzero": "return torch.count_nonzero(x > 0) * y",
    "where with a mask": "return torch.where(x > 0, x, torch.zeros_like(x)) + torch.where(y > 0, y, 0.0)",
    "print of a tensor": "print('mean', x.mean())\nreturn x * y",
    "print of an f-string": "print(f'mean {x.mean()}')\nreturn x * y",
    "dataclass": "from dataclasses import dataclass\n\n\n@dataclass\nclass Out:\n    a: torch.Tensor\n    b: torch.Tensor\n\n\ndef f(x, y):\n    o = Out(x * 2, b=y)\n    return o.a * o.b",
    "dataclass with a method": "from dataclasses import dataclass\n\n\n@dataclass\nclass Box:\n    a: torch.Tensor\n    k: float = 2.0\n\n    def area(self):\n        return self.a * self.k\n\n\ndef f(x, y):\n    return Box(x).area() + Box(y, 3.0).area()",
    "plain class": "class Scale:\n    def __init__(self, k):\n        self.k = k\n\n    def __call__(self, t):\n        return t * self.k\n\n\ndef f(x, y):\n    return Scale(2.0)(x) + Scale(y)(x)",
    "plain class with state": "class Meter:\n    def __init__(self):\n        self.total = 0.0\n\n    def add(self, t):\n        self.total = self.total + t.sum()\n\n\ndef f(x, y):\n    m = Meter()\n    m.add(x)\n    m.add(y)\n    return m.total",
    "static method of a class": "class A:\n    @staticmethod\n    def g(t):\n        return t * 2\n\n    @classmethod\n    def h(cls, t):\n        return cls.g(t) + 1\n\n\ndef f(x, y):\n    return A.g(x) + A.h(y)",
    "partial": "from functools import partial\n\n\ndef f(x, y):\n    g = partial(F.softmax, dim=1)\n    return g(x) * g(y)",
    "decorator": "def twice(g):\n    def inner(t):\n        return g(g(t))\n    return inner\n\n\n@twice\ndef h(t):\n    return t * 0.5 + 1\n\n\ndef f(x, y):\n    return h(x) + y",
    "star in a call": "ts = [x, y]\nreturn torch.add(*ts)",
    "double star in a call": "kw = {'dim': 1}\nreturn F.softmax(x, **kw) * y",
    "star in the middle": "def g(a, *rest, k=1.0):\n    return a * k + sum(rest)\nreturn g(x, y, x * y, k=2.0)",
    "compiled": "@torch.compile\ndef g(t):\n    return t * 2\n\n\ndef f(x, y):\n    return g(x) + y",
    "is_scripting": "if torch.jit.is_scripting():\n    return x\nreturn x * y",
    "isinstance of a list": "def g(t):\n    if isinstance(t, (list, tuple)):\n        return sum(g(u) for u in t)\n    return t * 2\nreturn g([x, y, (x, y)])",
    "type of a tensor": "if type(x) is torch.Tensor:\n    return x * y\nreturn x",
    "dtype test": "if x.dtype == torch.float16:\n    return x\nif x.is_floating_point():\n    return x * y\nreturn y",
    "device test": "if x.is_cuda:\n    x = x.cpu()\nreturn x.to(y.device) * y",
    "requires_grad test": "z = x * 2 if not x.is_complex() else x\nreturn z + y",
    "shape unpacked": "b, c = x.shape\nreturn x.reshape(c, b).t() * y",
    "size with a star": "*lead, c = x.size()\nreturn x.view(*lead, 2, c // 2).sum(-1).sum(-1) + y[:, 0]",
    "shape arithmetic": "n = x.numel() // x.shape[-1]\nreturn x.view(n, -1) / math.sqrt(x.shape[-1]) + y",
    "f-string keys": "d = {f'k{i}': x[i] for i in range(2)}\nreturn d['k0'] + d['k1'] * y",
    "nonlocal": "n = 0.0\ndef g(t):\n    nonlocal n\n    n = n + t.sum()\n    return t * 2\nz = g(x) + g(y)\nreturn z + n",
    "late binding": "fs = [lambda t, i=i: t * i for i in range(3)]\nreturn sum(g(x) for g in fs) + y",
    "closure over a changed name": "k = 2.0\ng = lambda t: t * k\nk = 3.0\nreturn g(x) + y",
    "recursion on data": "def g(t, n):\n    if n == 0:\n        return t\n    return g(t * 0.5 + 1, n - 1)\nreturn g(x, 3) + y",
    "autograd function with a number": "class Scale(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t, k):\n        ctx.k = k\n        return t * k\n\n    @staticmethod\n    def backward(ctx, g):\n        return g * ctx.k, None\n\n\ndef f(x, y):\n    return Scale.apply(x, 2.0) + y",
    "straight through": "class Round(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t):\n        return t.round()\n\n    @staticmethod\n    def backward(ctx, g):\n        return g\n\n\ndef f(x, y):\n    return Round.apply(x) * y",
    "gradient reversal": "class Reverse(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t, a):\n        ctx.a = a\n        return t.view_as(t)\n\n    @staticmethod\n    def backward(ctx, g):\n        return g.neg() * ctx.a, None\n\n\ndef f(x, y):\n    return Reverse.apply(x, 0.5) * y",
    "autograd function with masks": "class Clip(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t, low):\n        out = t.clamp(min=low)\n        ctx.save_for_backward(t, out)\n        ctx.low = low\n        return out\n\n    @staticmethod\n    def backward(ctx, g):\n        t, out = ctx.saved_tensors\n        grad = None\n        if ctx.needs_input_grad[0]:\n            grad = g.clone()\n            grad[out == ctx.low] = 0\n            grad[ctx.saved_tensors[0] > 1] *= 3\n        return grad, None\n\n\ndef f(x, y):\n    return Clip.apply(x, 0.0) * y",
    "autograd function of two": "class Mul(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a, b):\n        ctx.save_for_backward(a, b)\n        return a * b\n\n    @staticmethod\n    def backward(ctx, g):\n        a, b = ctx.saved_tensors\n        return g * b, g * a\n\n\ndef f(x, y):\n    return Mul.apply(x, y)",
    "a height of some object": "class Size:\n    H, W = 3, 8\n\n\ndef g(t, size):\n    return t.reshape(size.H, size.W)\n\n\ndef f(x, y):\n    return g(x, Size()) * g(y, Size())",
    "keywords without a space": "def f(x, y):\n    assert(torch.is_tensor(x))\n    if(torch.is_tensor(y)):\n        y = y * 2\n    z = x if(torch.is_tensor(x))else y\n    return(z + sum([v for v in(x, y)if(torch.is_tensor(v))]))",
    "a function without gradient": "def same(t):\n    return t * 2\n\n\n@torch.no_grad()\ndef g(t, how=None):\n    if how is None:\n        how = same\n    return how(t)\n\n\ndef f(x, y):\n    return g(x) * y + g(y, torch.sigmoid)",
    "a flag that a function binds anew": "def g(t, flag):\n    flag |= t > 0\n    return torch.where(flag, t, -t)\n\n\ndef f(x, y):\n    z = g(x, flag=False)\n    return z + g(y, flag=True), True",
    "checkpoint of a lambda": "from torch.utils.checkpoint import checkpoint\n\n\ndef f(x, y):\n    return checkpoint(lambda t: torch.tanh(t) * y, x, use_reentrant=False)",
    "inference mode": "with torch.inference_mode():\n    z = (x.detach() * 2).clone()\nreturn x * y + z.clone()",
    "a check of a number": "v = x.sum().item()\nif not math.isfinite(v):\n    x = x * 0\nok = not math.isnan(y.mean().item())\nif not math.isclose(v, 3.0) and v > 0:\n    y = y * 2\nreturn x * ok, y",
    "a loop while a number is not right": "n = 0\nwhile not math.isclose(x.sum().item(), 0.0) and n < 3:\n    x = x - x.mean()\n    n += 1\nreturn x * y",
    "math of a number": "n = (x > 0).sum()\nk = math.sqrt(1 - 0.9 ** n.item()) + math.log(x.abs().sum(), 2)\nreturn x * k + math.floor(y.mean()) * math.exp(-x.mean())",
    "the mean of a list": "import numpy as np\n\n\ndef f(x, y):\n    sums = [x.sum().item(), y.sum().item()]\n    return x * np.mean(sums), np.stack(sums)",
    "item as a number": "k = x.mean().item()\nreturn y * k",
    "numpy constant": "import numpy as np\n\n\ndef f(x, y):\n    w = torch.from_numpy(np.linspace(0, 1, 6))\n    return x * w + y",
    "numpy of a shape": "import numpy as np\n\n\ndef f(x, y):\n    return x * np.sqrt(x.shape[1]) + y * float(np.prod(x.shape))",
    "type_as": "m = (x > 0).type_as(x)\nreturn m * y",
    "new tensor like": "return torch.ones_like(x) * y + x.new_tensor([1.0]) + torch.full_like(x, 2.0)",
    "or of tensors as masks": "m = (x > 0) | (y > 0) & ~(x > 1)\nreturn m.to(x.dtype) * y",
    "xor": "return ((x > 0) ^ (y > 0)).to(x.dtype) + x",
    "chain of logical ops": "return torch.logical_and(x > 0, torch.logical_not(y > 0)).to(x.dtype) * x",
    "sort and gather": "v, i = x.sort(dim=1, descending=True)\nreturn v * y.gather(1, i)",
    "cond by torch.cond": "return torch.where(x.mean() > 0, x * 2, y)",
    "int division of sizes": "h = x.size(1) // 2\na, b = x[:, :h], x[:, h:]\nreturn torch.cat([b, -a], 1) * y",
    "assert with a message": "assert x.size(0) == y.size(0), f'{x.size()} {y.size()}'\nreturn x * y",
    "raise on a shape": "if x.dim() != 2:\n    raise ValueError(f'bad {x.dim()}')\nreturn x * y",
    "raise NotImplementedError in an else": "mode = 'a'\nif mode == 'a':\n    z = x\nelif mode == 'b':\n    z = y\nelse:\n    raise NotImplementedError(mode)\nreturn z * y",
    "warnings": "import warnings\n\n\ndef f(x, y):\n    if x.size(0) > 10:\n        warnings.warn('long')\n    return x * y",
    "enum": "from enum import Enum\n\n\nclass Mode(Enum):\n    A = 1\n    B = 2\n\n\ndef g(t, mode):\n    if mode == Mode.A:\n        return t * 2\n    return t\n\n\ndef f(x, y):\n    return g(x, Mode.A) + g(y, Mode.B)",
    "deque": "from collections import deque\n\n\ndef f(x, y):\n    q = deque(maxlen=2)\n    for row in x:\n        q.append(row)\n    return q[0] * q[1] + y",
    "ordered dict": "from collections import OrderedDict\n\n\ndef f(x, y):\n    d = OrderedDict()\n    d['a'] = x\n    d['b'] = y\n    return d['a'] - list(d.values())[1]",
    "property of a class": "class P:\n    def __init__(self, t):\n        self.t = t\n\n    @property\n    def norm(self):\n        return self.t.norm()\n\n\ndef f(x, y):\n    return P(x).norm * y",
    "guarded import of torch": "try:\n    from torch import _assert, exp\nexcept ImportError:\n    def _assert(condition, message):\n        assert condition, message\n\n\ndef f(x, y):\n    _assert(x.dim() == 2, 'flat')\n    return exp(x) * y",
    "guarded import of what torch has not": "try:\n    from torch._six import inf\nexcept ImportError:\n    inf = float('inf')\n\n\ndef f(x, y):\n    return x.clamp(max=inf) * y",
    "torch._check": "torch._check(x.dim() == 2, lambda: f'{x.dim()} dims')\nreturn x * y",
    "getattr of torch with a default": "g = getattr(torch, 'no_such_thing', None) or torch.exp\nreturn g(x) + getattr(F, 'relu', None)(y)",
    "getattr of F with a default, by a name that the run tells": "def g(t, act):\n    f = getattr(F, act, None)\n    return t if f is None else f(t)\nreturn g(x, 'gelu') * g(y, 'relu')",
    "type by a tensor type": "return x.gt(0).type(torch.FloatTensor) * y.type(torch.DoubleTensor) + x.type(y.dtype)",
    "numpy of a tensor": "import numpy as np\n\n\ndef f(x, y):\n    z = torch.exp(x.detach())\n    return np.sqrt(z) * y + torch.from_numpy(np.array(x.detach())) + np.prod(x.shape)",
    "set_grad_enabled off and on": "z = y * 1\nif y.dim() > 1:\n    torch.set_grad_enabled(False)\nw = x * y\nif y.dim() > 1:\n    torch.set_grad_enabled(True)\ntorch.set_grad_enabled(False)\nv = x * 3\ntorch.set_grad_enabled(True)\nreturn z * w + x * v",
    "partial that writes": "from functools import partial\n\nact = partial(F.relu, inplace=True)\n\n\ndef f(x, y):\n    z = x * 1\n    w = act(z)\n    return z * y + w",
    "smaller size": "n = torch.min(torch.as_tensor(2), torch.as_tensor(x.shape[0]))\nm = torch.div(x.shape[1], 2, rounding_mode='trunc')\nreturn x.reshape(n, -1, m).sum() * y",
    "meshgrid of a list": "def g(ks):\n    a, b = torch.meshgrid([torch.arange(k, dtype=x.dtype) for k in ks], indexing='ij')\n    return a * b\nv = [torch.arange(2.0), torch.arange(6.0)]\nc, d = torch.meshgrid(v, indexing='xy')\nreturn x * g(x.shape) + y * (c + d).T[:1, :2].sum()",
    "sizes by a star": "s = x.size()[:-1] + (2, 3)\nt = x.view(*s) * y.view(*y.shape[:-1], 2, -1)\nreturn t.permute(*range(3)).reshape(*x.shape).repeat(*[1, 1])",
    "tensors by a star": "ts = [x[0], y[0]]\na, b = torch.broadcast_tensors(*ts)\nc = torch.cartesian_prod(*[torch.arange(n) for n in x.shape])\nd = torch.block_diag(*[x, y])\ne, g = torch.meshgrid(*ts, indexing='ij')\nreturn a * b + c.sum() + d.sum() + (e * g).sum(0)",
    "product of a shape": "n = torch.prod(torch.tensor(x.shape[1:])).item()\nreturn x.view(-1, n) * y",
    "guards around data": "def g(p, w=None, mode='mean'):\n    if w is not None and not torch.any(w > 0) and mode != 'none':\n        return (p * w).sum()\n    if w is not None:\n        p = p * w\n    return p.mean()\nreturn g(x) * y + g(x, y) + g(x, x - 9)",
    "padding by sizes in tensors": "d = torch.tensor([8 - x.size()[1]])\ne = torch.tensor([5 - y.shape[0]])\nz = F.pad(x, [d // 2, d - d // 2, e // 2, e - e // 2])\nreturn z.sum() * y",
    "numel of shapes": "s = torch.Size(x.shape[1:])\nreturn x * s.numel() + y * x.shape.numel()",
    "None or a number": "def g(t, k=None):\n    if k is None or k >= t.shape[1]:\n        return t.sort(dim=1)[0]\n    return t.topk(k=k, dim=1)[0].sum(1, keepdim=True)\nreturn g(x) * y + g(y, k=2)",
    "sizes by keyword": "z = torch.zeros(size=(4, 6), dtype=x.dtype) + torch.ones(size=x.size())\nreturn z + x.view(size=(6, 4)).permute(dims=(1, 0)) + y.repeat(repeats=(1, 1)).reshape(shape=(4, 6))",
    "NamedTuple returned and unpacked": "from typing import NamedTuple\n\n\nclass Out(NamedTuple):\n    a: torch.Tensor\n    b: torch.Tensor\n\n\ndef g(t):\n    if t.mean() > 0:\n        return Out(t, t * 2)\n    return Out(-t, t)\n\n\ndef f(x, y):\n    a, b = g(x)\n    return a * b + y",
}  # fmt: skip

# what cannot be converted yet: the diagnostics say so
REFUSED = {
    "generic base of torch's": ("from torch.utils.data import Dataset\n\n\nclass Rows(Dataset[int]):\n    def __getitem__(self, i):\n        return i\n\n\ndef f(x, y):\n    return x * y", ["no-rule"]),
    "autograd.grad": ("g = torch.autograd.grad((x * x).sum(), x, create_graph=True)[0]\nreturn g * y", ["no-rule"]),
    "enable_grad": ("with torch.no_grad():\n    z = x * 2\n    with torch.enable_grad():\n        w = x * 3\nreturn z + w", ["left-over", "unsupported"]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name], three())


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    body, diagnostics = REFUSED[name]
    assert sorted(reported(body)) == diagnostics


WHOLE = {
    "cast": "return torch.linspace(-1, t - 1, steps=s + 1).int()",
    "by a name": "times = torch.linspace(-1, t - 1, s + 1)\ntimes = list(reversed(times.int().tolist()))\nreturn torch.tensor(times)",
    "each by itself": "return torch.tensor([int(x) for x in torch.linspace(0, t - 1, s)])",
    "floor": "return torch.floor(torch.linspace(0, t - 1, steps=s)).to(torch.int64)",
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_of_a_linspace(name):
    lines = "".join(f"    {line}\n" for line in WHOLE[name].splitlines())
    torch_f, jax_f, code = both(f"def f(t, s):\n{lines}")
    with jax.enable_x64(False):
        for t, s in [(500, 50), (100, 50), (4000, 250), (1000, 20), (37, 10), (9, 1)]:
            np.testing.assert_array_equal(np.asarray(jax_f(t, s)), torch_f(t, s).numpy(), err_msg=f"{t} {s} {code}")
