"""Writes: through views of all kinds, by every index form, to what lists, objects and callers share. Each run against torch."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from tests.small_programs import HEAD, both, both_modules, compare, reported, three
from transpile import convert_source

from ..proof.comparison import assert_close

pytestmark = pytest.mark.usefixtures("wide")

# name -> body of `def f(x, y)`, or definitions that end in an `f`; what torch itself refuses to differentiate is detached
PROGRAMS = {
    "method changes an argument": "class A:\n    def go(self, t):\n        t.add_(1)\n\n\ndef f(x, y):\n    z = x.clone()\n    A().go(z)\n    return z * y",
    "slice of a slice": "z = x.clone()\nw = z[1:][:, 2:]\nw.zero_()\nreturn z * y",
    "row of a transposed": "z = x.clone()\nw = z.t()[1]\nw += 1\nreturn z * y",
    "a view of data": "z = x * 1\nt = z.data.view(-1)\nt[1:].add_(1)\nreturn z * z",
    "a slice of what is seen flat, and the row it is in": "z = x * 1\nr = z[0]\nt = z.view(-1)[1:]\nt.mul_(2)\nr.add_(y[0])\nreturn z * z, t",
    "turned, then flat": "z = x * 1\nt = z.transpose(0, 1)[1:].unsqueeze(0)\nt.add_(1)\nz.mul_(3)\nreturn z, t",
    "inner function that writes and returns its argument": "z = x.clone()\ndef g(t):\n    t += 1\n    return t\nw = g(z)\nreturn z * w",
    "callee returns its written argument": "def g(t):\n    t.add_(1)\n    return t\nz = x.clone()\nw = g(z)\nw.mul_(2)\nreturn z * y, w",
    "callee returns its written argument, of which there is a view": "def g(t):\n    t.add_(1)\n    return t\nz = x.clone()\nv = z[0]\nw = g(z)\nv.mul_(2)\nreturn z * y, w, v",
    "a function gives what is around it": "z = x * 1\ndef g():\n    return z\nw = g()\nw += 1\nreturn z",
    "alias through a call": "def same(t):\n    return t\nz = x.clone()\nw = same(z)\nw.add_(1)\nreturn z * y",
    "names in a nested tuple": "a, (b, c) = x * 2, (y * 2, y + 1)\nb.mul_(2)\n(d, e), *rest = [(x * 3, y + 2), (x, y)]\nd.add_(1)\nreturn a, b, c, d, e",
    "names in a nested tuple of a loop": "total = 0\nfor i, (a, b) in enumerate([(x + 0, y + 0), (y * 2, x * 2)]):\n    a -= 1\n    total = total + a * b\nreturn total",
    "halves of several": "(a, b), (c, d) = [(t * 2, t + 1) for t in (x, y)]\na.mul_(2)\nreturn a, b, c, d",
    "rows of several": "z = x.detach().clone()\n(a, b, c, d), e = z, y * 1\na.mul_(2)\nreturn a, b, c, d, e, z + y",
    "a name given inside an expression": "z = (w := x * 1)\nw += y\nif (v := z * 2) is not None:\n    u = v\nv += 1\nreturn z, u",
    "padded and written": "a = F.pad(x, (1, 0))\nb = a\nc = a[:, 0]\na += 1\na[..., 0] = y[:, 0]\nif a.sum() > 0:\n    b = b * 2\nreturn b, c",
    "pooled and written": "a = F.max_pool1d(x, 2)\nb = a\na.mul_(2)\nc = nn.MaxPool1d(2)(y)\nd = c[:, 0]\nc[:, 1] = 0\nc += 1\ne, i = F.max_pool1d(y, 2, return_indices=True)\ng = e\ne += i\nh, j = nn.MaxPool1d(2, return_indices=True)(y)\nk = h\nh += j\nreturn b, c, d, g, k",
    "values of a sort": "v = (x * 1).sort(-1).values\nw = v\nv += y\nreturn w, (x * 2).topk(2, dim=1).values.add_(1)",
    "a padding layer": "a = nn.ConstantPad1d(1, 0.0)(x)\nb = a[:, 0]\na += 1\nreturn b, a * 2",
    "a list of one number several times": "ns = [0.0] * 3\nns[0] += x.sum()\nhs = [x] * 2\nhs[0] = hs[0] + y\nreturn ns, hs",
    "two names of one assignment": "r = z = x * 2\nz += y\nz[:, 0] = 0\nreturn r + z",
    "two names, one of them written by a call": "r = z = x * 2\nz = torch.relu_(z)\nv = w = y * 2\nw = nn.ReLU(inplace=True)(w)\nreturn r + z, v + w",
    "two names written in a loop": "h = c = torch.zeros_like(x)\nhs = []\nfor i in range(3):\n    h += x * y\n    hs.append(h.clone())\nreturn c, torch.stack(hs)",
    "two names of one number": "s = n = 0\nfor i in range(3):\n    s += x[i] * y\n    n += 1\nreturn s, n",
    "a choice of a write that is read later": "z = x * 1\nw = z.add_(1) if y.dim() == 2 else z\nreturn z * w",
    "two calls in one expression that change fresh arguments": "def g(t, u):\n    t.mul_(u)\n    return t.sum()\nreturn g(x * 1, y) + g(x[0] * 1, y[0])",
    "a choice between an operation and its in-place form": "def g(t, inplace):\n    return t.sigmoid_() if inplace else t.sigmoid()\ndef h(t, inplace=False):\n    inner = t + 3.0\n    return t.mul_(inner) if inplace else t.mul(inner)\nreturn g(x * 1, True) + g(x, False) * h(y * 1, True) + h(y)",
    "a choice of a write by another test": "def g(t, u):\n    return t.add_(u).mul_(2) if t.dim() == 2 else t * u\nreturn g(x * 1, y) + g(x[0] * 1, y[0])",
    "argument changed by keyword": "def g(*, t):\n    t.mul_(2)\nz = x.clone()\ng(t=z)\nreturn z * y",
    "partial view of a callee": "def g(t):\n    t[:, 0] = 0.0\n    return t.sum()\nz = x.clone()\ns = g(z[1:])\nreturn z * s",
    "callee writes a reshaped argument": "def g(t):\n    t.view(-1)[0] = 5.0\nz = x.clone()\ng(z)\nreturn z * y",
    "a function inside writes two arguments": "def g(t, u, k):\n    t.mul_(k)\n    u[0] += t[1]\n    return t.sum()\nz, w = x.clone(), y.clone()\nfor i in range(2):\n    s = g(z, w, i + 2.0)\nreturn z * s + w",
    "arithmetic on slices": "z = x.clone()\nz[:, 1:].mul_(0.5)\nz[0].add_(y[0]).sub_(z[1])\nz[1].div_(y[0] + 9)\nz[2].sub_(z[2:3].sum(), alpha=2)\nz[3].abs_().add_(1).pow_(2)\nreturn z * y",
    "a list that a call changes": "def g(ts):\n    ts[0].add_(1)\n    return ts\nzs = [x * 1, y * 1]\ng(zs)\nus = g([x * 2, y])\nreturn zs[0] * zs[1], us[0]",
    "narrow": "z = x.clone()\nz.narrow(1, 1, 2).mul_(3.0)\nreturn z + y",
    "narrow of a name": "z = x.clone()\nw = z.narrow(0, 1, 2)\nw.add_(y[:2])\nreturn z, w",
    "chunks written": "z = x.detach().clone()\na, b = z.chunk(2, dim=1)\na.add_(b)\nreturn z + y",
    "chunks both written": "z = x.detach().clone()\na, b = z.chunk(2, dim=1)\na.add_(b)\nb.mul_(a)\nreturn z + y, a, b",
    "split written": "z = x.detach().clone()\na, b = z.split([2, 4], dim=1)\nb.mul_(2.0)\nreturn z + y, a, b",
    "split by a size": "z = x.detach().clone()\na, b, c = z.split(2, dim=1)\nc.mul_(2.0)\nreturn z, a * y[:, :2]",
    "one chunk written": "z = x.detach().clone()\nz.chunk(2, dim=1)[1].mul_(2.0)\nz.split(2)[0][1] += 3.0\nreturn z * y",
    "two names at once": "a = b = x * 1\na += y\nc = d = b[0]\nd.mul_(2.0)\nreturn b, c",
    "a row and a name unpacked": "z = x.detach().clone()\nz[0], b = y[1], y[2]\nz[1], i = b, 2\nz[i], i = x[0] + i, 3\nreturn z * i + y",
    "unbind unpacked": "z = x.detach().clone()\na, b, c, d = z.unbind()\na += b\nd.zero_()\nreturn z + y, a",
    "rows unpacked and written": "z = x.detach().clone()\na, b, c, d = z\na += b\nd.zero_()\nreturn z + y, a",
    "diagonal written": "z = x[:, :4].clone()\nz.diagonal().add_(1.0)\nreturn z * y[:, :4]",
    "diagonal of a name": "z = x[:, :4].clone()\nd = z.diagonal()\nd.mul_(y[0, :4])\nreturn z, d",
    "diagonal with an offset": "z = x.clone()\nz.diagonal(1).fill_(2.0)\nreturn z * y",
    "select written": "z = x.clone()\nz.select(1, 2).zero_()\nreturn z * y",
    "select of a name": "z = x.clone()\nw = z.select(0, 1)\nw += y[0]\nreturn z, w",
    "T stored": "z = x.clone()\nz.T[0] = 1.0\nreturn z * y",
    "T augmented": "z = x.clone()\nz.T[0] += y[:, 0]\nreturn z",
    "t stored": "z = x.clone()\nz.t()[1] = y[:, 0]\nreturn z",
    "transpose of a name": "z = x.clone()\nw = z.transpose(0, 1)\nw[0] = 5.0\nreturn z, w",
    "permute written": "z = x.clone()\nz.permute(1, 0)[0] = 5.0\nreturn z * y",
    "permute of three": "z = x.reshape(2, 2, 6).clone()\nw = z.permute(2, 0, 1)\nw[1].zero_()\nreturn z, w * y.sum()",
    "movedim written": "z = x.reshape(2, 2, 6).clone()\nw = z.movedim(0, -1)\nw[1].zero_()\nreturn z, w * y.sum()",
    "view of a name": "z = x.clone()\nw = z.view(2, 12)\nw[0] = 3.0\nreturn z * y",
    "flatten of a name": "z = x.clone()\nw = z.flatten()\nw[::3] = 0.0\nreturn z * y",
    "unsqueeze of a name": "z = x.clone()\nw = z.unsqueeze(1)\nw.mul_(2)\nreturn z * y",
    "view_as": "z = x.clone()\nw = z.view_as(y)\nw.mul_(y)\nreturn z",
    "unflatten": "z = x.clone()\nw = z.unflatten(1, (2, 3))\nw[:, 0] = 1.0\nreturn z * y",
    "detach written": "z = x.clone()\nw = z.detach()\nw.zero_()\nreturn (z * y).detach()",
    "data written": "z = x.clone().detach()\nz.data[0] = 1.0\nz.data.mul_(2)\nz.data = z.data + 1\nreturn z * y",
    "expand written is refused by torch": "z = x[:1].clone()\nreturn z.expand(4, 6).clone().add_(1) * y",
    "copy of an index list": "z = x.clone()\nw = z[[0, 1]]\nw.zero_()\nreturn z * y",
    "index tensor stored": "z = x.clone()\ni = torch.tensor([0, 2])\nz[i] = y[:2]\nreturn z",
    "index tensor with a slice": "z = x.clone()\ni = torch.tensor([0, 2])\nz[i, 1:3] = 0.0\nreturn z * y",
    "index pair stored": "z = x.clone()\ni = torch.tensor([0, 2])\nj = torch.tensor([1, 1])\nz[i, j] = y[0, :2]\nreturn z",
    "index pair augmented": "z = x.clone()\ni = torch.arange(4)\nz[i, i] += 1.0\nreturn z * y",
    "argmax stored": "z = torch.zeros_like(x)\nz[torch.arange(4), x.argmax(1)] = 1.0\nreturn z * y",
    "index with duplicates": "z = x.clone()\nz.index_add_(1, torch.tensor([0, 0, 1]), y[:, :3], alpha=2)\nreturn z",
    "index_put": "z = x.clone()\nz.index_put_((torch.tensor([0, 1]), torch.tensor([2, 2])), torch.tensor([5.0, 6.0]))\nreturn z * y",
    "index_put accumulate": "z = x.clone()\nz.index_put_((torch.tensor([0, 0]),), y[:2], accumulate=True)\nreturn z",
    "scatter of a number": "i = x.argmax(1, keepdim=True)\nz = torch.zeros_like(x)\nz.scatter_(1, i, 1.0)\nreturn z * y",
    "scatter of a source": "i = torch.tensor([[0, 2], [1, 3]])\nz = x.clone()\nz.scatter_(1, i, y[:2, :2])\nreturn z",
    "scatter_reduce": "i = torch.zeros(4, 6, dtype=torch.long)\nz = x.clone()\nreturn z.scatter_reduce(1, i, y, reduce='sum')",
    "index_select": "return x.index_select(1, torch.tensor([0, 2])) * y[:, :2]",
    "take and put": "return x.take(torch.tensor([0, 5])) + y[0, :2]",
    "tril in place": "z = x.clone()\nz.tril_()\nreturn z * y",
    "fill of a diagonal block": "z = torch.zeros(4, 4)\nz[:2, :2] = x[:2, :2]\nz[2:, 2:] = y[:2, :2]\nreturn z",
    "chained in place": "z = x.clone()\nz.abs_().add_(1).log_().mul_(y)\nreturn z",
    "in place on a call": "def g(t):\n    return t * 2\nz = g(x).add_(y).relu_()\nreturn z",
    "in place of an argument of forward": "z = x.add(1).mul_(y)\nreturn z.clamp_(-1, 1)",
    "masked_fill of a view": "z = x.clone()\nz[:, :3].masked_fill_(y[:, :3] > 0, 0.0)\nreturn z",
    "where store": "z = x.clone()\nz[:, 0] = torch.where(y[:, 0] > 0, y[:, 0], z[:, 0])\nreturn z",
    "boolean store of a mean": "z = x.clone()\nm = y > 0\nz[m] = z.mean()\nreturn z",
    "boolean row store": "z = x.clone()\nm = torch.tensor([True, False, True, False])\nz[m] = 0.0\nreturn z * y",
    "mask of ints": "z = x.clone()\nz[(x > 0) & (y > 0)] = -1.0\nz[~(x > 0)] += 1.0\nreturn z",
    "store from itself": "z = x.clone()\nz[0] = z[1] + z[0]\nz[:, 0] = z[:, 1]\nreturn z * y",
    "store of a scalar tensor": "z = x.clone()\nz[0, 0] = y.sum()\nz[1] = y.mean()\nreturn z",
    "store of a list": "z = x.clone()\nz[0, :2] = torch.tensor([1.0, 2.0])\nreturn z * y",
    "store in three dims": "z = torch.zeros(4, 6, 2)\nz[:, :, 0] = x\nz[..., 1] = y\nreturn z",
    "store with None": "z = torch.zeros(4, 1, 6)\nz[:, 0] = x\nreturn z * y[:, None]",
    "negative index store": "z = x.clone()\nz[-1] = y[-2]\nz[:, -2:] = 0.0\nreturn z",
    "step store": "z = x.clone()\nz[::2, 1::2] = y[1::2, ::2]\nreturn z",
    "augmented in a list": "parts = [x.clone(), y.clone()]\nparts[0] += 1\nparts[1][0] = 5.0\nreturn parts",
    "augmented in a dict": "d = {'a': x.clone()}\nd['a'] += y\nd['a'][0] = 1.0\nreturn d",
    "dict slot in place": "d = {'a': x.clone()}\nd['a'].mul_(y)\nreturn d['a']",
    "out of matmul": "z = torch.empty(4, 4)\ntorch.matmul(x.detach(), y.detach().t(), out=z)\nreturn z * x[:, :4]",
    "out into a slice": "z = torch.zeros(2, 4, 6)\ntorch.add(x.detach(), y.detach(), out=z[0])\nreturn z",
    "swap through a temporary": "z = x.clone()\nt = z[0].clone()\nz[0] = z[1]\nz[1] = t\nreturn z * y",
    "swap without": "z = x.clone()\nz[[0, 1]] = z[[1, 0]]\nreturn z * y",
    "lerp and addcmul": "z = x.clone()\nz.lerp_(y, 0.3).addcmul_(x, y, value=0.5)\nreturn z",
    "view written under data": "z = x.clone()\nw = z[0]\nif y.mean() > 0:\n    w.add_(1)\nreturn z * y, w",
    "view written in a loop": "z = x.clone()\nfor i in range(4):\n    w = z[i]\n    w.mul_(i)\n    w.add_(y[i])\nreturn z",
    "real part": "z = torch.complex(x, y)\nreturn z.real * z.imag",
    "set of requires_grad": "z = x.detach().clone()\nz.requires_grad_(False)\nz += 1\nreturn z * y",
    "clone breaks": "z = x.clone()\nw = z[0].clone()\nw.zero_()\nreturn z * y",
    "contiguous view": "z = x.clone()\nz.contiguous().view(-1)[0] = 4.0\nreturn z * y",
    "sum of squares in place": "z = x.clone().square_().sum(1, keepdim=True).sqrt_()\nreturn x / z + y",
    "zero of a gradient like": "z = torch.empty_like(x).zero_()\nz[:, 0].copy_(y[:, 0])\nreturn z",
    "resize by new": "z = x.new_empty((2, 6)).fill_(1.5)\nreturn z * y[:2]",
    "squeeze of a name": "z = x[:, :1].clone()\nw = z.squeeze(1)\nw += y[:, 0]\nreturn z",
    "out alias": "z = x.detach().clone()\nw = z\ntorch.add(z, 1, out=z)\nreturn w * y",
    "map of in-place": "ts = [x.clone(), y.clone()]\nfor i in range(2):\n    ts[i].mul_(2)\nreturn ts[0] + ts[1]",
    "swap of rows by tuple": "z = x.clone()\nz[0], z[1] = z[1].clone(), z[0].clone()\nreturn z * y",
    "swap of rows as torch does": "z = x.detach().clone()\nz[0], z[1] = z[1], z[0]\nreturn z * y",
    "default mutable": "def g(t, acc=None):\n    if acc is None:\n        acc = []\n    acc.append(t)\n    return acc\nreturn sum(g(y, g(x)))",
    "a result under the name of what the call changed": "def g(t, k):\n    s = t.sum(dim=1)\n    t[:, :k] *= 0.5\n    return s\nz = x * 1\nz = g(z, 2)\nreturn z * y[:, 0]",
    "a result under the name of one of two that a call changed": "def g(t, u):\n    t.mul_(2)\n    u.add_(t)\n    return t.sum(1)\nz, w = x * 1, y * 1\nz = g(z, w)\nreturn z, w",
    "two results under the names of what the call changed": "def g(t, u):\n    t.mul_(2)\n    u.add_(1)\n    return u * t, t - 1\nz, w = x * 1, y * 1\nv = z\nz, w = g(z, w)\nw, z = g(w, z)\nreturn z, w, v",
    "another name for what the call changed": "def g(t, u):\n    t.mul_(2)\n    u.add_(t)\n    return t.sum(1)\nz, w = x * 1, y * 1\nrow, same = z[0], w\nz = g(z, w)\nreturn z, row, same, w",
    "a result under another name for what the call changed": "def g(t, u):\n    t.mul_(2)\n    u.add_(t)\n    return t.sum(1)\nz, w = x * 1, y * 1\nv = z\nv = g(z, w)\nreturn z, w, v",
    "a result in a dict in place of what the call changed": "def g(t, u):\n    t.mul_(2)\n    u.add_(t)\n    return t.sum(1)\nd = {'a': x * 1}\nd['a'] = g(d['a'], y * 1)\nreturn d['a']",
    "a result in rows of what the call changed": "def g(t, u):\n    t.mul_(2)\n    return t.sum(0) * u\nz = x * 1\nz[0] = g(z, y[0])\nz[1:] = g(z[1:], y[1])\nreturn z",
    "a cast to another dtype and one to its own": "z = x * 1\nn = z.long()\nn += 1\nw = z.double()\nw.mul_(2)\nreturn z, w, n * 1.0",
    "a cast to the dtype of another": "z, w = x * 1, y * 1\nn = (z > 0).long()\na, b = z.type_as(w), z.to(n.dtype)\na.add_(1)\nb.add_(1)\nreturn z, a, b * 1.0, n * 1.0",
    "a mask that is cast": "m = x > 0\nw = m.double()\nw[0] = 3\nreturn m * y, w",
    "two casts of one tensor": "z = x * 1\na, b = z.double(), z.double()\na.add_(1)\nb.mul_(2)\nn = z.long()\nz.mul_(3)\nreturn z, a, b, n * 1.0",
    "a cast written where it is made": "z, w = x * 1, y * 1\na = z.double().mul_(2).add_(1)\nn = w.long().add_(1)\nreturn z, a, w.double().mul_(3), w, n * 1.0",
    "a callee that writes a cast": "def g(t):\n    u = t.double()\n    u.mul_(2)\n    return u.sum()\ndef h(t):\n    return t.double().add_(1)\ndef k(t):\n    u = t.long()\n    u.mul_(2)\n    return u.sum() * 1.0\nz = x * 1\na = g(z)\nc = k(z)\nb = h(z)\nreturn z, a, b, c",
    "a cast under a test of the dtype": "z = x * 1\nw = z\nif z.dtype == torch.uint8:\n    w = z.type(torch.float)\n    w = w.mul_(1 / 255)\nreturn z * y, w",
    "a Function that writes what nobody reads again": "class D(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t, u):\n        ctx.mark_dirty(t)\n        t.mul_(2)\n        return t\n\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2, None\n\n\ndef f(x, y):\n    z = x * 1\n    z = D.apply(z, y)\n    return z",
    "enumerate of a list written": "ps = [x.clone(), y.clone()]\nfor i, p in enumerate(ps):\n    p.mul_(i + 2)\nreturn ps[0] * ps[1]",
    "dict values written": "d = {'a': x.clone(), 'b': y.clone()}\nfor k, v in d.items():\n    v.mul_(2)\nreturn d['a'] + d['b']",
    "a write in the head of a branch": "z = x * 1\nif z.add_(1).sum() > 0:\n    return z[0] * 3\nreturn y[0]",
    "columns apart": "z = x * 1\na, b, c = z[:, 0], z[:, 1], z[..., 2:]\na += b\nb *= 2\nc -= 1\nreturn a, b, c, z",
    "halves apart": "def g(t, n):\n    a, b = t[:, :n], t[:, n:]\n    b *= a.sum()\n    return a + 1, b\nreturn g(x * 1, 2)",
    "from both ends": "z = x * 1\na = z[:2]\nb = z[2:]\nc = z[-1]\na += 1\nc *= 2\nreturn a, b, c, z * y",
    "rows that overlap": "z = x * 1\na = z[:3]\nb = z[2:]\nc = z[None, -1]\na += 1\nb *= 2\nreturn a, b, c, z * y",
    "a number that a call gives back": "def default(val, d):\n    if val is not None:\n        return val\n    return d() if callable(d) else d\ndef g(t, n=None):\n    n = default(n, lambda: 4)\n    n += 1\n    return t * n\nn = 2\nreturn g(x, n) + n * y",
    "what a call gives back is made anew": "def default(val, d):\n    if val is not None:\n        return val\n    return d() if callable(d) else d\ndef g(t, u=None):\n    u = default(u, lambda: torch.zeros_like(t)) * 2\n    u += t\n    return u\nz = y * 1\nreturn g(x, z) * z",
    "a loop over an object's dict": "class H:\n    def __init__(self, a):\n        self.d = {'w': a}\n\n    def scale(self, a):\n        for k, v in self.d.items():\n            v.mul_(a)\n\n\ndef f(x, y):\n    h = H(x * 1)\n    h.scale(y)\n    return h.d['w']",
    "a loop over a dict that a function builds": "def g(a):\n    return {'w': a * 2, 'v': a + 1}\n\n\ndef f(x, y):\n    total = 0\n    for k, v in g(x).items():\n        v *= y\n        total = total + v\n    return total",
    "a write in an elif": "z = x * 1\nif x.sum() > 100:\n    w = y[0]\nelif z.add_(1).sum() > 0:\n    w = z[0] * 3\nelse:\n    w = y[0]\nreturn w",
    "a write in the head of a loop": "z, w = x * 1, y * 1\nfor i in range(z.mul_(2).shape[0]):\n    w = w + z[i]\nreturn w",
    "part of what one of two functions that write gives": "def g(t):\n    t += 1\n    return t * 2\ndef h(t):\n    t *= 2\n    return t + 1\nz = x * 1\nfn = g if y.dim() == 2 else h\nz = fn(z)[1:]\nreturn z * y[1:]",
    "a lambda that computes": "g = lambda t: t * 2\nfn = F.softplus if y.dim() == 2 else g\nz = g(x) + fn(y)\nw = fn(x)\nw += z\nreturn x, z, w",
    "attributes of an object that are its own": "class A:\n    pass\n\n\ndef f(x, y):\n    p = A()\n    p.t, p.u = x * 1, x\n    p.t += y\n    p.t.mul_(2)\n    w = p.t * p.u\n    w += 1\n    return p.t, w",
    "a write in the test of a choice": "z = x * 1\nreturn z[0] * 3 if z.add_(1).sum() > 0 else z[1]",
}  # fmt: skip

# what must not be converted in silence: the other name for the memory would keep the old value
REFUSED = {
    "a call that writes what a list holds": ("def g(ts):\n    ts[0].add_(1)\nz = x * 1\ng([z, y])\nreturn z", "mutated-argument"),
    "a call that writes an argument in a list": ("def g(ts):\n    ts[0].add_(1)\ndef h(t):\n    g([t])\nz = x * 1\nh(z)\nreturn z", "mutated-argument"),
    "a part of a list without a name": ("z = x * 1\n[z, y][0].add_(1)\nreturn z", "aliased-write"),
    "columns by a number that changes": ("z = x * 1\nn = 1\na = z[:, :n]\nn = 0\nb = z[:, n:]\na += 1\nreturn a, b, z", "aliased-write"),
    "a choice of a write inside an expression": ("z = x * 1\nw = y + (z.add_(1) if y.dim() == 2 else z)\nreturn z * w", "aliased-write"),
    "an argument read in the expression that changes it": ("def g(t, u):\n    t.mul_(u)\n    return t.sum()\nz = x * 1\nreturn g(z, y) * z", "mutated-argument"),
    "a write behind an and": ("z = x * 1\nw = y.dim() == 2 and z.add_(1)\nreturn z * y", "aliased-write"),
    "a call that gives its argument back": ("def default(val, d):\n    if val is not None:\n        return val\n    return d() if callable(d) else d\ndef g(t, u=None):\n    u = default(u, lambda: torch.zeros_like(t))\n    u += 0.5 * torch.ones_like(t)\n    return t * u\nz = y * 1\nw = g(x, z)\nreturn w, z", "mutated-argument"),
    "a call that gives its argument back, times a number": ("def default(val, d):\n    if val is not None:\n        return val\n    return d() if callable(d) else d\nz = y * 1\nw = default(z, lambda: x)\nw *= 2\nreturn w * x, z", "aliased-write"),
    "a loop over the dict that a method gives": ("class H:\n    def __init__(self, a):\n        self.inner, self.d = self, {'w': a}\n\n    def tensors(self):\n        return self.d\n\n\ndef unwrap(m):\n    return m.inner if isinstance(m, H) else m\n\n\ndef g(t, s, a):\n    new = unwrap(s).tensors()\n    for k, v in unwrap(t).tensors().items():\n        v.copy_(v * (1 - a) + new[k] * a)\n\n\ndef f(x, y):\n    t = H(x * 1)\n    g(t, H(y), 0.5)\n    return t.d['w']", "aliased-write"),
    "a loop over two dicts that methods give": ("def g(a, b):\n    for (n, p), (m, q) in zip(a.state_dict().items(), b.state_dict().items()):\n        p.copy_(q * 0.5)\n\n\ndef f(x, y):\n    return x", "aliased-write"),
    "a loop over a dict of the file's": ("held = {'a': torch.ones(6)}\n\n\ndef give():\n    return held\n\n\ndef f(x, y):\n    for v in give().values():\n        v += x[0]\n    return x * held['a']", "aliased-write"),
    "a loop over the buffers of what is not known": ("def g(a, b):\n    for p, q in zip(a.buffers(), b.buffers()):\n        p.copy_(q)\n\n\ndef f(x, y):\n    return x", "parameter-write"),
    "a loop over the values of an object's dict": ("class H:\n    def __init__(self, a):\n        self.d = {'w': a}\n\n    def scale(self, a):\n        for v in self.d.values():\n            v.mul_(a)\n\n\ndef f(x, y):\n    h = H(x * 1)\n    h.scale(y)\n    return h.d['w']", "aliased-write"),
    "a write in a comprehension": ("z = x * 1\nw = [z.add_(1) for i in range(3)]\nreturn w[0] * y", "aliased-write"),
    "writes of what a comprehension goes over": ("ts = [x * 1, y * 1]\nus = [t.mul_(2) for t in ts]\nreturn ts[0] + us[1]", "aliased-write"),
    "torch.narrow": ("z = x.clone()\nw = torch.narrow(z, 0, 1, 2)\nw *= 2\nreturn z + y", "aliased-write"),
    "chunks in a list": ("z = x.detach().clone()\nparts = z.chunk(2)\nparts[0].zero_()\nparts[1].add_(y[:2])\nreturn z + y", "aliased-write"),
    "torch.chunk": ("z = x.detach().clone()\na, b = torch.chunk(z, 2)\nb.zero_()\nreturn z + y", "aliased-write"),
    "torch.split": ("z = x.detach().clone()\na, b = torch.split(z, 2)\na.copy_(b)\nreturn z + y, y", "aliased-write"),
    "unbind written": ("z = x.detach().clone()\nrows = z.unbind(0)\nrows[1].zero_()\nreturn z + y", "aliased-write"),
    "unbind of columns": ("z = x.detach().clone()\ncols = z.unbind(1)\ncols[2].add_(cols[0])\nreturn z + y", "aliased-write"),
    "torch.diagonal": ("z = x.clone()\ntorch.diagonal(z).zero_()\nreturn z * y", "aliased-write"),
    "list of views": ("z = x.clone()\nparts = [z[0], z[1]]\nfor p in parts:\n    p.mul_(2.0)\nreturn z + y", "aliased-write"),
    "list of views by index": ("z = x.clone()\nparts = [z[0], z[1]]\nparts[1].mul_(2.0)\nreturn z + y", "aliased-write"),
    "loop over unbind": ("z = x.detach().clone()\nfor row in z.unbind(0):\n    row.mul_(2.0)\nreturn z + y", "aliased-write"),
    "loop over unbind of columns": ("z = x.detach().clone()\nfor c in z.unbind(1):\n    c.sub_(c.mean())\nreturn z + y", "aliased-write"),
    "loop over chunks": ("z = x.detach().clone()\nfor c in z.chunk(2):\n    c.mul_(2.0)\nreturn z + y", "aliased-write"),
    "loop over split": ("z = x.detach().clone()\nfor c in z.split(2, dim=1):\n    c.add_(1)\nreturn z + y", "aliased-write"),
    "slice of a slice by name": ("z = x.clone()\na = z[1:]\nb = a[:, 2:]\nb.zero_()\nreturn z, a, b * 1 + y[1:, 2:]", "aliased-write"),
    "alias in a tuple": ("z = x.clone()\npair = (z, y)\npair[0].add_(1)\nreturn z", "aliased-write"),
    "alias through a call that may give another": ("def same(t, u=None):\n    return t if u is None else u\nz = x.clone()\nw = same(z)\nw.add_(1)\nreturn z * y", "aliased-write"),
    "view returned by a call": ("def first(t):\n    return t[0]\nz = x.clone()\nw = first(z)\nw.add_(1)\nreturn z * y", "aliased-write"),
    "star argument changed": ("def g(*ts):\n    for t in ts:\n        t.mul_(2)\nz = x.clone()\ng(z)\nreturn z * y", "mutated-argument"),
    "conditional view": ("z = x.clone()\nw = z[0] if x.dim() == 2 else z\nw.add_(1)\nreturn z * y", "aliased-write"),
    "view under a static if": ("z = x.clone()\nif x.dim() == 2:\n    w = z[0]\nelse:\n    w = z\nw.add_(1)\nreturn z * y", "aliased-write"),
    "element of a list of names written": ("z = x.clone()\nparts = [z, y]\nparts[0].add_(1)\nreturn z", "aliased-write"),
    "element of a dict written": ("z = x.clone()\nd = {'a': z}\nd['a'].add_(1)\nreturn z", "aliased-write"),
    "element of a dict augmented": ("z = x.clone()\nd = {'a': z}\nd['a'] += 1\nreturn z", "aliased-write"),
    "element stored": ("z = x.clone()\nd = {'a': z}\nd['a'][0] = 1.0\nreturn z", "aliased-write"),
    "element bound to a name": ("z = x.clone()\nparts = [z, y]\nw = parts[0]\nw.add_(1)\nreturn z", "aliased-write"),
    "loop over names written": ("z = x.clone()\nw = y.clone()\nfor t in (z, w):\n    t.add_(1)\nreturn z * w", "aliased-write"),
    "loop over a list of names written": ("ps = [x.clone(), y.clone()]\nfor t in ps:\n    t.add_(1)\nreturn ps[0] * ps[1]", "aliased-write"),
    "attribute of an object written": ("class A:\n    def __init__(self, t):\n        self.t = t\n\n\ndef f(x, y):\n    z = x.clone()\n    a = A(z)\n    a.t.add_(1)\n    return z * y", "aliased-write"),
    "attribute of an object augmented": ("class A:\n    def __init__(self, t):\n        self.t = t\n\n\ndef f(x, y):\n    z = x.clone()\n    a = A(z)\n    a.t += 1\n    return z * y, a.t", "taken-for-granted"),
    "inner function stores into an outer name": ("z = x.clone()\ndef g(i):\n    z[i] = 0.0\ng(0)\nreturn z * y", "aliased-write"),
    "an entry and a name": ("d = {}\nz = d['a'] = x * 2\nz += y\nreturn d['a']", "aliased-write"),
    "one tensor in two places": ("z = x * 1\nzs = [z, z]\nzs[0] += y\nreturn zs[1]", "aliased-write"),
    "a list of one tensor several times": ("zs = [torch.zeros_like(x)] * 2\nzs[0] += x\nreturn zs[1]", "aliased-write"),
    "a list of one tensor unpacked": ("z, w = [torch.zeros_like(x)] * 2\nz += x\nreturn w", "aliased-write"),
    "a dict made by a call": ("z = x * 1\nw = dict(a=z)['a']\nw.add_(y)\nreturn z", "aliased-write"),
    "the first of an iterator": ("z = x * 1\nw = next(iter([z]))\nw.add_(y)\nreturn z", "aliased-write"),
    "the larger of two": ("z = x * 1\nw = max(z, y * 1, key=lambda t: t.sum())\nw.add_(y)\nreturn z", "aliased-write"),
    "a copied list": ("import copy\nz = x * 1\nzs = copy.copy([z])\nzs[0].add_(y)\nreturn z", "aliased-write"),
    "running statistics that are arguments": ("return F.batch_norm(x, y[0], y[1], training=True)", "unsupported"),
    "running statistics of instances": ("m, v = torch.zeros(4), torch.ones(4)\nreturn F.instance_norm(x[None], m, v)", "unsupported"),
    "star unpack written": ("z = x.clone()\na, *rest = z\na.add_(1)\nreturn z * y", "aliased-write"),
    "ternary name written": ("z = x.clone()\nw = y.clone()\nt = z if x.dim() == 2 else w\nt.add_(1)\nreturn z * w", "aliased-write"),
    "or name written": ("z = x.clone()\nt = None or z\nt.add_(1)\nreturn z * y", "aliased-write"),
    "walrus written": ("(z := x.clone()).add_(1)\nreturn z * y", "aliased-write"),
    "zip of a list of tensors written": ("ps, gs = [x.clone(), y.clone()], [y, x]\nfor p, g in zip(ps, gs):\n    p.add_(g)\nreturn ps[0] * ps[1]", "aliased-write"),
    "a call with one tensor twice": ("def g(t, u):\n    t.mul_(2)\n    u.add_(t)\n    return t.sum(1)\nz = x * 1\nz = g(z, z)\nreturn z * y[:, 0]", "mutated-argument"),
    "a call with a tensor and its row": ("def g(t, u):\n    t.mul_(2)\n    return t * u\nz = x * 1\nreturn z, g(z[0], z)", "mutated-argument"),
    "a result that is a view of what is written later": ("def g(t, u):\n    t.mul_(2)\n    return t.view(-1)[:2] if u else t[0]\nz = x * 1\nw = g(z, False)\nz.add_(y)\nreturn z, w", "aliased-write"),
    "an element that a call changed under another name": ("def g(t, u):\n    t.mul_(2)\n    u.add_(t)\n    return t.sum(1)\nd = {'a': x * 1}\ne = d['a']\nd['a'] = g(d['a'], y * 1)\nreturn d['a'], e", "aliased-write"),
    "a cast whose dtype JAX may not tell": ("z = (x * 3).round()\nn = z.int()\nn += 1\nreturn z, n", "aliased-write"),
    "a cast written that has no name": ("z = x * 1\nz.double().mul_(2)\nreturn z * y", "aliased-write"),
    "a Function that writes what it is applied to": ("class D(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t, u):\n        ctx.mark_dirty(t)\n        t.mul_(2)\n        return t\n\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2, None\n\n\ndef f(x, y):\n    z = x * 1\n    w = D.apply(z, y)\n    return z, w", "mutated-argument"),
    "a Function under another name": ("class D(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t, u):\n        ctx.mark_dirty(t)\n        t.mul_(2)\n        return t\n\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2, None\n\n\nd = D.apply\n\n\ndef f(x, y):\n    z = x * 1\n    w = d(z, y)\n    return z, w", "mutated-argument"),
    "a Function that writes a buffer": ("class D(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, t, u):\n        ctx.mark_dirty(t)\n        t.mul_(2)\n        return t\n\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2, None\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('m', torch.zeros(6))\n\n    def forward(self, x):\n        return D.apply(self.m, None) + x\n\n\ndef f(x, y):\n    return M()(x)", "mutated-argument"),
    "a call that writes in the head of a branch": ("def g(t):\n    t.add_(1)\n    return t\nz = x * 1\nif g(z).sum() > 0:\n    return z[0] * 3\nreturn y[0]", "mutated-argument"),
    "a call that writes in the test of a choice": ("def g(t):\n    t.add_(1)\n    return t\nz = x * 1\nreturn z[0] * 3 if g(z).sum() > 0 else z[1]", "mutated-argument"),
    "a call that writes what a list with a name holds": ("def g(ts):\n    for i in range(2):\n        ts[i].add_(1)\n    return ts\nz = x * 1\nzs = [z, y * 1]\nus = g(zs)\nreturn z, us", "mutated-argument"),
    "a function chosen by a condition": ("def same(t):\n    return t\ng = same if x.dim() == 2 else torch.relu\nz = x * 1\nw = g(z)\nw += 1\nreturn z", "aliased-write"),
    "a function set on two ways": ("def same(t):\n    return t\nif x.dim() == 2:\n    g = same\nelse:\n    g = torch.relu\nz = x * 1\nw = g(z)\nw += 1\nreturn z", "aliased-write"),
    "a lambda gives its argument back": ("g = lambda t: t\nz = x * 1\nw = g(z)\nw += 1\nreturn z", "aliased-write"),
    "a lambda of a table": ("fns = {'same': lambda t: t, 'twice': lambda t: t * 2}\nz = x * 1\nw = fns['same'](z)\nw += 1\nreturn z", "aliased-write"),
    "a table of the file's": ("def same(t):\n    return t\n\n\nFNS = {'same': same, 'relu': torch.relu}\n\n\ndef f(x, y, name='same'):\n    z = x * 1\n    w = FNS.get(name, torch.tanh)(z)\n    w += 1\n    return z", "aliased-write"),
    "a loop over functions": ("def same(t):\n    return t\nz = w = x * 1\nfor g in (same, torch.relu):\n    w = g(w)\n    w += 1\nreturn z", "aliased-write"),
    "a partial gives its argument back": ("import functools\n\n\ndef second(k, t):\n    return t\n\n\ndef f(x, y):\n    z = x * 1\n    w = functools.partial(second, 2)(z)\n    w += 1\n    return z", "aliased-write"),
    "a function that a default gives": ("def same(t):\n    return t\ndef h(t, fn=same):\n    u = fn(t)\n    u += 1\n    return t, u\nreturn h(x * 1), h(y * 1, torch.relu)", "aliased-write"),
    "a function that a module keeps": ("def same(t):\n    return t\n\n\nclass M(nn.Module):\n    def __init__(self, p):\n        super().__init__()\n        self.act = same if p else torch.tanh\n\n    def forward(self, x):\n        z = x * 1\n        w = self.act(z)\n        w += 1\n        return z\n\n\ndef f(x, y):\n    return x", "aliased-write"),
    "methods chosen by a flag": ("class M(nn.Module):\n    def same(self, t):\n        return t\n\n    def twice(self, t):\n        return t * 2\n\n    def forward(self, x, flag):\n        z = x * 1\n        fn = self.twice if flag else self.same\n        w = fn(z)\n        w += 1\n        return z\n\n\ndef f(x, y):\n    return x", "aliased-write"),
    "a method that a subclass overrides": ("class M(nn.Module):\n    def act(self, t):\n        return t * 2\n\n    def forward(self, x):\n        z = x * 1\n        w = self.act(z)\n        w += 1\n        return z\n\n\nclass N(M):\n    def act(self, t):\n        return t\n\n\ndef f(x, y):\n    return x", "aliased-write"),
    "a lambda that is called by what it is given to": ("def default(val, d):\n    if val is not None:\n        return val\n    return d() if callable(d) else d\nz = x * 1\nw = default(None, lambda: z)\nw += 1\nreturn z", "aliased-write"),
    "a map over names": ("def same(t):\n    return t\nz = x * 1\nfor w in map(same, [z]):\n    w += 1\nreturn z", "aliased-write"),
    "a comprehension of calls": ("def same(t):\n    return t\nz = x * 1\nws = [same(t) for t in (z, y)]\nws[0].add_(1)\nreturn z", "aliased-write"),
    "a call gives its argument twice": ("def pair(t):\n    return t, t\na, b = pair(x * 1)\na *= 2\nreturn b", "aliased-write"),
    "a call gives a tensor and its row": ("def pair(t):\n    u = t * 2\n    return [u, u[0]]\np = pair(x)\np[0] *= 2\nreturn p[1]", "aliased-write"),
    "a call gives a dict of one tensor": ("def pair(t):\n    u = t * 2\n    return {'a': u, 'b': u}\np = pair(x)\np['a'] *= 2\nreturn p['b']", "aliased-write"),
    "an element of what a call gives": ("def wrapped(t):\n    return [t]\nz = x * 1\nwrapped(z)[0].mul_(2)\nreturn z", "aliased-write"),
    "one of two functions that write": ("def g(t):\n    t += 1\ndef h(t):\n    t *= 2\nz = x * 1\nfn = g if y.dim() == 2 else h\nfn(z)\nreturn z", "mutated-argument"),
    "a partial of a function that writes": ("import functools\n\n\ndef g(t, k):\n    t += k\n\n\ndef f(x, y):\n    z = x * 1\n    g2 = functools.partial(g, k=2)\n    g2(z)\n    return z", "mutated-argument"),
    "a field of a namespace": ("from types import SimpleNamespace\n\n\ndef f(x, y):\n    z = x * 1\n    p = SimpleNamespace(a=z, b=y)\n    p.a.add_(1)\n    return z", "aliased-write"),
    "a field of a namespace augmented": ("from types import SimpleNamespace\n\n\ndef f(x, y):\n    z = x * 1\n    p = SimpleNamespace(a=z, b=y)\n    p.a += y\n    return z", "aliased-write"),
    "what a namespace is made of": ("from types import SimpleNamespace\n\n\ndef f(x, y):\n    z = x * 1\n    p = SimpleNamespace(a=z, b=y)\n    z += 1\n    return p.a", "aliased-write"),
    "what a namedtuple is made of": ("from collections import namedtuple\n\nPair = namedtuple('Pair', ['a', 'b'])\n\n\ndef f(x, y):\n    z = x * 1\n    p = Pair(z, y)\n    z.add_(1)\n    return p.a", "aliased-write"),
    "one tensor in two fields": ("class Pair:\n    def __init__(self, a, b):\n        self.a, self.b = a, b\n\n\ndef f(x, y):\n    z = x * 1\n    p = Pair(z, z)\n    p.a.add_(1)\n    return p.b", "aliased-write"),
    "a namedtuple that a call gives": ("from collections import namedtuple\n\nPair = namedtuple('Pair', ['a', 'b'])\n\n\ndef g(t):\n    return Pair(t, t * 2)\n\n\ndef f(x, y):\n    z = x * 1\n    a, b = g(z)\n    a.add_(1)\n    return z", "aliased-write"),
    "an attribute set on an object": ("class A:\n    pass\n\n\ndef f(x, y):\n    z = x * 1\n    p = A()\n    p.a = z\n    p.a.add_(1)\n    return z", "aliased-write"),
    "what an attribute of an object is set to": ("class A:\n    pass\n\n\ndef f(x, y):\n    z = x * 1\n    p = A()\n    p.a = z\n    z.add_(1)\n    return p.a", "aliased-write"),
    "an attribute set by its name": ("class A:\n    pass\n\n\ndef f(x, y):\n    z = x * 1\n    p = A()\n    setattr(p, 'a', z)\n    p.a.add_(1)\n    return z", "aliased-write"),
    "a field that a call writes": ("class A:\n    def __init__(self, a):\n        self.a = a\n\n\ndef g(t):\n    t.add_(1)\n\n\ndef f(x, y):\n    z = x * 1\n    p = A(z)\n    g(p.a)\n    return z", "aliased-write"),
    "a dict that is updated": ("z = x * 1\nd = {}\nd.update(a=z)\nd['a'].add_(1)\nreturn z", "aliased-write"),
    "a dict that is updated, by an operator": ("z = x * 1\nd = {}\nd.update(a=z)\nd['a'] += 1\nreturn z", "aliased-write"),
    "a dict that is updated with a dict": ("z = x * 1\nd = {}\nd.update({'a': z})\nd['a'] += 1\nreturn z", "aliased-write"),
    "a dict of pairs": ("z = x * 1\nd = dict([('a', z)])\nd['a'] += 1\nreturn z", "aliased-write"),
    "what a dict is set to": ("z = x * 1\nd = {}\ne = d.setdefault('a', z)\ne += 1\nreturn z", "aliased-write"),
    "a list of one tensor": ("z = x * 1\nzs = [z for _ in range(3)]\nzs[0][:, 0] = 1\nreturn torch.stack(zs)", "aliased-write"),
    "a list that is added to": ("z = x * 1\nzs = []\nzs += [z]\nzs[0] += 1\nreturn z", "aliased-write"),
    "a list in a dict that is added to": ("z = x * 1\nd = {'a': []}\nd['a'].append(z)\nd['a'][0].add_(1)\nreturn z", "aliased-write"),
    "a dict made by a comprehension": ("z = x * 1\nd = {k: t for k, t in (('a', z), ('b', y))}\nd['a'].add_(1)\nreturn z", "aliased-write"),
    "a call that writes between reads": ("def g(t):\n    t.add_(1)\n    return t\nz = x * 1\nreturn torch.cat([z[:1] * 2, g(z)[1:], z[:1]])", "mutated-argument"),
}  # fmt: skip


# functions inside that are written out where they are called, before memory is looked at
WRITTEN_OUT = {
    "lambda writes": "z = x.clone()\ng = lambda t: t.add_(1)\ng(z)\nreturn z * y",
    "inner function writes an outer name": "z = x.clone()\ndef g():\n    z.add_(1)\ng()\nreturn z * y",
}


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_written_out(name):
    compare(WRITTEN_OUT[name], three())


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    compare(PROGRAMS[name], three())


def test_a_number_with_two_names():
    """EfficientNet's drop_connect: of `p` nothing is known, and `+=` of a number makes a new tensor."""
    body = "def f(t, p):\n    keep = 1 - p\n    mask = keep\n    mask += torch.ones(2, 1, dtype=t.dtype)\n    return t / keep * mask"
    torch_f, jax_f, code = both(body, ["taken-for-granted"])
    x = next(three())[0][:2]
    np.testing.assert_allclose(jax_f(jnp.asarray(x.numpy()), 0.25), torch_f(x, 0.25).numpy(), 1e-12, err_msg=code)


def test_attribute_and_name():
    source = HEAD + "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.first = None\n\n    def forward(self, x):\n        z = self.first = x * 2\n        z += 1\n        return self.first\n"
    theirs, ours = both_modules(source, convert_source(source))
    x = torch.randn(4)
    assert_close(ours.apply({}, {}, x.numpy())[0], theirs(x))


def test_statistics_that_stay():
    """Without statistics, or out of training, nothing is changed."""
    assert not reported("return F.batch_norm(x, None, None, training=True), F.batch_norm(x, y[0], y[1]), F.instance_norm(x[None]), F.instance_norm(x[None], y[0], y[1], use_input_stats=False)")


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    body, diagnostic = REFUSED[name]
    assert diagnostic in reported(body)


# name -> the constructor, other methods, and the body of forward of a module in training: names for arrays that a call changes in place
BUFFERS = {
    "statistics": ("self.bn = nn.BatchNorm1d(6)", "", "m = self.bn.running_mean\ny = self.bn(x)\nreturn y + m"),
    "statistics of two names": ("self.bn = nn.BatchNorm1d(6)", "", "m, v = self.bn.running_mean, self.bn.running_var\ny = self.bn(x)\nreturn y + m * v"),
    "statistics in a loop": ("self.bn = nn.BatchNorm1d(6)", "", "t, m = 0, self.bn.running_mean\nfor i in range(2):\n    t = t + m\n    x = self.bn(x)\nreturn x + t"),
    "statistics of a layer by name": ("self.bn = nn.BatchNorm1d(6)", "", "bn = self.bn\nm = bn.running_mean\ny = bn(x)\nreturn y + m"),
    "statistics of a layer in a Sequential": ("self.s = nn.Sequential(nn.BatchNorm1d(6), nn.ReLU())", "", "m = self.s[0].running_mean\ny = self.s(x)\nreturn y + m"),
    "statistics that were cloned": ("self.bn = nn.BatchNorm1d(6)", "", "m = self.bn.running_mean.clone()\ny = self.bn(x)\nreturn y + m"),
    "statistics of a functional norm": ("self.register_buffer('m', torch.zeros(6))\nself.register_buffer('v', torch.ones(6))", "", "m = self.m\ny = F.batch_norm(x, self.m, self.v, training=True)\nreturn y + m"),
    "a buffer that a method adds to": ("self.register_buffer('n', torch.zeros(6))", "def step(self, x):\n    self.n += x.sum(0)\n    return x * 2", "n = self.n\ny = self.step(x)\nreturn y * n"),
    "a buffer that a method of a method stores to": ("self.register_buffer('n', torch.zeros(6))", "def store(self, x):\n    self.n[1:] = x.sum()\ndef step(self, x):\n    self.store(x)", "n = self.n\nself.step(x)\nreturn x * n"),
    "data of a buffer unpacked": ("self.register_buffer('n', torch.zeros(6))", "def totals(self, x):\n    return x.sum(0), x.mean(0)", "self.n.data, m = self.totals(x)\nreturn x * self.n + m"),
    "a buffer that a method gives": ("self.register_buffer('n', torch.zeros(6))", "def give(self):\n    return self.n\ndef step(self, x):\n    self.n += x.sum(0)", "n = self.give()\nself.step(x)\nreturn x * n"),
    "a buffer that a method replaces": ("self.register_buffer('n', torch.zeros(6))", "def step(self, x):\n    self.n = self.n + x.sum(0)", "n = self.n\nself.step(x)\nreturn x * n"),
}  # fmt: skip

# the other name keeps a part of the array, or is read in the expression that changes it
BUFFERS_REFUSED = {
    "statistics in a tuple": ("self.bn = nn.BatchNorm1d(6)", "", "p = (self.bn.running_mean, x)\ny = self.bn(x)\nreturn y + p[0]"),
    "a view of statistics": ("self.bn = nn.BatchNorm1d(6)", "", "m = self.bn.running_mean[None]\ny = self.bn(x)\nreturn y + m"),
    "statistics beside the call": ("self.bn = nn.BatchNorm1d(6)", "", "m = self.bn.running_mean\nreturn self.bn(x) + m"),
}  # fmt: skip


def _module(parts):
    """A module from its constructor, methods and forward."""
    init, methods, forward = ("".join(f"{indent}{line}\n" for line in part.splitlines()) for indent, part in zip(("        ", "    ", "        "), parts))
    return f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n{init}\n{methods}\n    def forward(self, x):\n{forward}"


@pytest.mark.parametrize("name", BUFFERS)
def test_buffer(name):
    source = _module(BUFFERS[name])
    result = convert_source(source)
    assert not result.diagnostics
    theirs, ours = both_modules(source, result)
    params, state = ours.init(jax.random.key(0)), ours.init_state(jax.random.key(0))
    takes = inspect.signature(type(ours).__call__).parameters
    given = {"params": params} if "params" in takes else {}
    for _ in range(2):
        x = torch.randn(4, 6)
        training = {"training": True} if "training" in takes else {}
        got, state = ours(**given, state=state, x=x.numpy(), **training)
        np.testing.assert_allclose(got, theirs(x).detach(), 1e-4, 1e-4, err_msg=result.code)


@pytest.mark.parametrize("name", BUFFERS_REFUSED)
def test_buffer_refused(name):
    assert "aliased-write" in {d.id for d in convert_source(_module(BUFFERS_REFUSED[name])).diagnostics}
