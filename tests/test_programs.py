"""Small programs: each is converted, run under jit and compared with torch in float64, gradients included."""

import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source

HEAD = "import math\n\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"

# name -> body of `def f(x, y)` with x of shape (4, 6) and y of shape (4, 6)
PROGRAMS = {
    "augmented": "x = x * 1\nx += y\nreturn x",
    "augmented alias": "z = x * 2\nw = z\nw += y\nreturn z, w",
    "rebinding is no alias": "z = x * 2\nw = z\nz = z + y\nz += 1\nreturn z, w",
    "comparison in place": "z = x.clone()\nz.ge_(0.5)\nw = y.clone().ne_(0)\nw.logical_not_()\nreturn z.sum() + x * z, w",
    "method": "z = x.clone()\nz.mul_(y).add_(1)\nreturn z",
    "method in expression": "z = x.clone()\nreturn z.add_(y) * z",
    "slice store": "z = x.clone()\nz[:, 1:3] = y[:, :2]\nreturn z",
    "row store": "z = torch.zeros_like(x)\nfor i in range(x.shape[0]):\n    z[i] = x[i] * i\nreturn z",
    "chained store": "z = x.clone()\nz[1][2] = 5.0\nreturn z",
    "mask store": "z = x.clone()\nz[z > 0] = 2.0\nreturn z * y",
    "mask of lower rank": "z = x.clone()\nz[y[:, 0] > 0] = 3.0\nreturn z",
    "mask update": "z = x.clone()\nz[z < 0] *= 10.0\nreturn z",
    "index list": "z = x.clone()\nz[[0, 2]] += 1.0\nreturn z",
    "view written": "z = x.clone()\nrow = z[0]\nrow += y[0]\nreturn z, row",
    "view of a view": "z = x.clone()\nz.view(-1)[3] = 7.0\nreturn z",
    "transpose written": "z = x.clone()\nz.t()[0] = 1.0\nreturn z",
    "base written, view read": "z = x.clone()\ncol = z[:, 0]\nz.mul_(2)\nreturn col + y[:, 0]",
    "two views": "z = x.clone()\na = z[:2]\nb = z[1:]\na.add_(1)\nreturn a, b, z",
    "swap rows": "z = x.clone()\nz[0], z[1] = y[0], y[1]\nreturn z",
    "in-place relu": "z = x * 1\nw = F.relu(z, inplace=True)\nreturn w + z",
    "read before it is written": "z = x.clone()\nw = z * 2\nreturn w * z.add_(y)",
    "square mask of lower rank": "z = x[:, :4] * 1\nz[y[:, 0] > 0] = 3.0\nreturn z",
    "copy": "z = torch.zeros_like(x)\nz[:2].copy_(y[:2])\nreturn z",
    "fill": "z = x.clone()\nz[:, 0].fill_(3.0)\nreturn z",
    "clamp keeps the gradient": "return torch.clamp(x, min=0.0) + y.clamp(-0.5, 0.5)",
    "clamp in a chain": "return x / y.abs().clamp(min=1.0).unsqueeze(1)[:, 0]",
    "max pair": "v, i = x.max(dim=1)\nreturn v + i.to(x.dtype)",
    "max value": "return x.max(dim=1)[0] + y.min(1).values",
    "topk": "v, i = x.topk(2, dim=1)\nreturn v * i",
    "chunk": "a, b = x.chunk(2, dim=1)\nreturn a * b",
    "uneven chunk": "return [p.sum() for p in x.chunk(4, dim=1)]",
    "split": "a, b, c = x.split([1, 2, 3], dim=1)\nreturn a.sum() + b.prod() * c.mean()",
    "std": "return x.std(), y.var(dim=1), x.std(0, unbiased=False)",
    "masked mean": "m = x > 0\nreturn x[m].mean() + y[y < 1].sum()",
    "gather": "i = torch.arange(6).repeat(4, 1) % 3\nreturn x.gather(1, i) * y",
    "scatter": "i = torch.arange(6).repeat(4, 1) % 3\nreturn torch.zeros_like(x).scatter_add_(1, i, y) + x",
    "index add": "z = x.clone()\nz.index_add_(0, torch.tensor([0, 0, 2, 3]), y)\nreturn z",
    "expand": "return x[0].expand(3, -1) + y[:1].expand_as(y).sum()",
    "repeat": "return x.repeat(2, 1) * torch.cat([y, y])",
    "einsum": "return torch.einsum('ij,kj->ik', x, y)",
    "norms": "return x.norm(), y.norm(dim=1, keepdim=True), F.normalize(x, dim=1)",
    "losses": "return F.mse_loss(x, y) + F.smooth_l1_loss(x, y) + F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction='batchmean')",
    "results by name": "a = x @ x.t() + torch.eye(4)\nlu = torch.linalg.lu_factor(a)\nreturn lu.LU, torch.linalg.cholesky_ex(a).L, torch.slogdet(a).logabsdet, torch.svd(y).S",
    "binary cross entropy": "return F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y))",
    "old constructor": "return x.new(x.size()).zero_() + y",
    "pad": "return F.pad(x, (1, 2, 0, 1), value=2.0)",
    "pow": "return x ** 2 + y.abs().pow(1.5)",
    "comprehension": "return torch.stack([x[i] * y[-i] for i in range(1, 4)])",
    "list in place": "parts = [x, y]\nparts[0] = parts[0] + 1\nparts.append(parts[0] * parts[1])\nreturn torch.cat(parts)",
    "None": "z = None\nfor i in range(3):\n    z = x if z is None else z + y\nreturn z",
    "early return": "if x.dim() == 3:\n    return x\nif x.size(0) > 2:\n    return x + y\nreturn y",
    "lambda": "f = lambda t: t.tanh().sum(-1, keepdim=True)\nreturn f(x) * f(y)",
    "closure": "def g(t):\n    return t * y\nreturn g(x) + g(x * 2)",
    "new tensors": "return x.new_zeros(4, 1) + x.new_ones(()) + torch.full((1,), 0.5) * y + x.new_tensor([2.0])",
    "unfold": "return x.unfold(1, 3, 2).sum(-1)",
    "meshgrid": "a, b = torch.meshgrid(torch.arange(4), torch.arange(6), indexing='ij')\nreturn x * a + y * b",
    "numbers": "n = x.size(1)\nscale = 1.0 / math.sqrt(n)\nreturn x * scale + n // 4",
    "rows of what the loop writes": "z = x.detach().clone()\nout = []\nfor row in z:\n    out.append(row.sum())\n    z += 1\nreturn torch.stack(out) + y[:, 0], z",
    "rows written": "z = x.detach().clone()\nfor row in z:\n    row.mul_(0.5)\nreturn z + y",
    "chain that reads what it writes": "z = x * 1\nz.mul_(0.5).add_(z)\nreturn z",
    "view after a loop": "z = x * 1\nfor i in range(2):\n    z = z * 0.5\nw = z[1:]\nw += y[1:]\nreturn z, w",
    "view after a branch": "z = x * 1\nif x.dim() == 2:\n    z = z + 1\nw = z.t()\nz += 1\nreturn z, w",
    "inner function in place": "def g(t):\n    t = t * 1\n    t.add_(1)\n    t[0] = 2.0\n    return t\nreturn g(x) * g(y)",
    "no_grad": "with torch.no_grad():\n    z = x * y\nreturn z + x",
    "no_grad passes a name on": "with torch.no_grad():\n    z = x\nreturn z * y",
    "no_grad in place": "z = x * 2\nwith torch.no_grad():\n    z += y\nreturn z",
    "no_grad made inside": "with torch.no_grad():\n    z = x * 1\n    z[0] = y[0]\n    z.mul_(y)\nreturn z + x",
    "set_grad_enabled": "with torch.set_grad_enabled(x.dim() == 3):\n    z = x * y\nreturn z + x",
    "no_grad decorates": "@torch.no_grad()\ndef g(t):\n    u = t * y\n    return u, t\na, b = g(x)\nreturn a * x + b",
    "a dtype under an odd name": "kinds = {'a': torch.float32}\nreturn x.to(kinds['a']).double() + y.to(x)",
    "gradient stopped": "return x * y.detach() + (x.round() - x).detach() + x",
}  # fmt: skip


def both(name):
    body = "".join(f"    {line}\n" for line in PROGRAMS[name].splitlines())
    source = f"{HEAD}def f(x, y):\n{body}"
    result = convert_source(source)
    assert not result.diagnostics, result.diagnostics
    support = types.ModuleType("jax_nn")
    exec(compile(result.support, "jax_nn.py", "exec"), support.__dict__)
    sys.modules["jax_nn"] = support
    torch_side, jax_side = {}, {}
    exec(compile(source, name, "exec"), torch_side)
    exec(compile(result.code, name, "exec"), jax_side)
    return torch_side["f"], jax_side["f"], result.code


def leaves(value):
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, (list, tuple)) else [value]


@pytest.fixture(autouse=True)
def wide():
    torch.set_default_dtype(torch.float64)
    jax.config.update("jax_enable_x64", True)
    yield
    torch.set_default_dtype(torch.float32)
    jax.config.update("jax_enable_x64", False)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    torch_f, jax_f, code = both(name)
    generator = torch.Generator().manual_seed(len(name))
    inputs = [torch.randn(4, 6, generator=generator, requires_grad=True) for _ in range(2)]
    want = leaves(torch_f(*[x.clone() for x in inputs]))
    arrays = [jnp.asarray(x.detach().numpy()) for x in inputs]
    got = leaves(jax.jit(jax_f)(*arrays))
    assert len(got) == len(want)
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, w.detach().numpy(), 1e-9, 1e-9, err_msg=code)
    total = sum((w * w.cos()).sum() for w in want if w.requires_grad)
    wanted = torch.autograd.grad(total, inputs, allow_unused=True)

    def loss(*xs):
        out = leaves(jax_f(*xs))
        return sum((o * jnp.cos(o)).sum() for o, w in zip(out, want) if w.requires_grad)

    for g, w in zip(jax.grad(loss, (0, 1))(*arrays), wanted):
        np.testing.assert_allclose(g, np.zeros_like(g) if w is None else w.numpy(), 1e-8, 1e-8, err_msg=code)
