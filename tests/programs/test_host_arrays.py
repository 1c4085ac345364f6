"""NumPy's arrays and Python's lists that are made of tensors: outside of what is traced they are what they are in torch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source

from ..proof.comparison import assert_close
from ..small_programs import HEAD, leaves, load

# name -> body of `def f(x)`, where x is a tensor of 2 by 3
LISTS = {
    "rows are joined": "l = x.tolist()\nreturn torch.tensor(l[0] + l[1])",
    "rows are repeated": "l = x.tolist()\nreturn torch.tensor(l[0] * 2)",
    "all rows are joined": "return torch.tensor(sum(x.tolist(), []))",
    "an element is set": "l = x.tolist()\nl[0][0] = 100.0\nl[1] = l[0]\nreturn torch.tensor(l), x",
    "sorted in place": "l = x.flatten().tolist()\nl.sort(reverse=True)\nreturn torch.tensor(l)",
    "questions": "l = x.long().tolist()\nreturn torch.tensor([len(r) for r in l] + [r.index(max(r)) for r in l] + [r.count(1) for r in l])",
    "keys": "d = {k: i for i, k in enumerate(x[0].long().tolist())}\nreturn torch.tensor([d[2], d[0]])",
    "a set": "return torch.tensor(sorted(set(x.long().flatten().tolist()) | {9}))",
    "removed": "l = x[1].long().tolist()\nif 4 in l:\n    l.remove(4)\nreturn torch.tensor(l)",
    "bounds": "starts, ends = x[0].long().tolist(), x[1].long().tolist()\nreturn torch.stack([x.flatten()[s:e].sum() for s, e in zip(starts, ends)])",
    "a number": "k = x.argmax().tolist()\nreturn torch.ones(k)",
}  # fmt: skip

ARRAYS = {
    "sorted in place": "a = x.detach().cpu().numpy().copy()\na.sort()\nreturn torch.from_numpy(a)",
    "filled": "a = x.numpy().copy()\na.fill(3.0)\nreturn torch.from_numpy(a)",
    "functions that write": "a = x.numpy().copy()\nnp.fill_diagonal(a, 9.0)\nnp.add.at(a, [0, 0], 1.0)\nnp.put(a, [2], [5.0])\nnp.multiply(a, 2, out=a)\nreturn torch.from_numpy(a)",
    "stores": "a = x.clone().numpy()\na[a > 2] = 0\na[a == 0] -= 1\ni, j = np.where(a < 0)\na[i, j] *= 5\na.T[1] = 3\nreturn torch.from_numpy(a)",
    "a view of it": "a = x.numpy().copy()\nv = a[0]\nv[1] = 4.0\na[1] += v\nreturn torch.from_numpy(a)",
    "indices": "i = np.where(x[0] > 0)[0].copy()\ni[0] = 7\ni.sort()\nreturn torch.from_numpy(i)",
    "a number of the argument's": "def f(x, first=None):\n    first = 1 if first is None else first\n    ids = np.zeros([2], dtype=np.int64)\n    ids[0] = first\n    ids[1] = 0\n    return x[torch.from_numpy(ids)]",
    "its own methods": "a = x.numpy()\nreturn a.std(), a.max(axis=1), a.sum(1), a.transpose(1, 0), a.repeat(2)",
    "a method that writes it": "def stamp(img):\n    img[0, 0] = 9\n    return img.sum(1)\n\n\ndef f(x):\n    a = x.numpy().copy()\n    s = stamp(a)\n    return a, s",
}  # fmt: skip

# what is written is the memory of another name, or no array of NumPy's where it is traced
REFUSED = {
    "the tensor is read": ("def f(x):\n    y = x * 1\n    a = y.numpy()\n    a[0] = 7.0\n    return y + 0", ["aliased-write"]),
    "the argument is": ("def f(x):\n    a = x.numpy()\n    a.sort()\n    return a", ["mutated-argument"]),
    "a tensor of the array": ("def f(x):\n    y = x * 1\n    b = torch.from_numpy(y.numpy())\n    b.mul_(2)\n    return y", ["aliased-write"]),
    "in forward": ("class M(nn.Module):\n    def forward(self, x):\n        a = x.numpy().copy()\n        a.sort()\n        return a", ["aliased-write"]),
    "in forward by a function": ("class M(nn.Module):\n    def forward(self, x):\n        a = x.numpy().copy()\n        np.fill_diagonal(a, 1)\n        return a", ["aliased-write"]),
}  # fmt: skip

NUMPY = "import numpy as np\n" + HEAD


def source_of(body):
    return NUMPY + (body if "def f(" in body else "def f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines()))


@pytest.mark.parametrize("kind, name", [*(("list", n) for n in LISTS), *(("array", n) for n in ARRAYS)])
def test_outside_of_what_is_traced(kind, name):
    source = source_of((LISTS if kind == "list" else ARRAYS)[name])
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    got, want = (leaves(f(x)) for f, x in ((load(result)["f"], jnp.arange(6.0).reshape(2, 3)), (scope["f"], torch.arange(6.0).reshape(2, 3))))
    for g, w in zip(got, want, strict=True):
        assert_close(g, w, err_msg=result.code)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    body, ids = REFUSED[name]
    result = convert_source(NUMPY + body)
    assert [d.id for d in result.diagnostics] == ids, (result.diagnostics, result.code)


def test_numbers_of_a_forward_pass():
    """Under jit arrays stand for them, and no gradient goes through them, as none goes through numbers."""
    source = HEAD + "class M(nn.Module):\n    def forward(self, x):\n        l = x.tolist()\n        return x[0].sum() * l[0][1] + sum(l[0] + l[1])\n"
    module = load(convert_source(source))["M"]()
    x = jnp.arange(6.0).reshape(2, 3)
    assert float(module(x)) == float(jax.jit(module)(x)) == 18
    np.testing.assert_array_equal(jax.grad(module)(x), [[1, 1, 1], [0, 0, 0]])


def test_methods_of_numpy_in_a_forward_pass():
    source = NUMPY + "class M(nn.Module):\n    def forward(self, x):\n        a = x.detach().numpy()\n        return (a * 2).std(), a.max(axis=1)\n"
    deviation, largest = jax.jit(load(convert_source(source))["M"]())(jnp.arange(6.0).reshape(2, 3))
    np.testing.assert_allclose(deviation, np.arange(6).std() * 2, 1e-6)
    np.testing.assert_array_equal(largest, [2, 5])


@pytest.mark.parametrize(
    ("line", "diagnostics"),
    [
        ("x * np.percentile(x.detach().cpu().numpy(), 5)", ["unsupported"]),
        ("torch.from_numpy(ndimage.zoom(x.detach().numpy(), 2))", ["unsupported"]),
        ("x[:, np.squeeze(np.argwhere(self.keep.data.cpu().numpy()))]", ["unsupported"]),
        ("x * np.mean(x.detach().numpy()) + np.prod(x.shape)", []),
        ("x * torch.from_numpy(np.ascontiguousarray(np.linspace(0, 1, x.shape[1])))", []),
    ],
)
def test_what_needs_the_numbers_of_what_is_traced_is_reported(line, diagnostics):
    source = f"""import numpy as np
import torch
import torch.nn as nn
from scipy import ndimage


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.keep = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return {line}

    def show(self, x):
        return np.percentile(x.cpu().numpy(), 5)
"""
    assert [d.id for d in convert_source(source).diagnostics] == diagnostics


def test_a_picture_that_is_resized_is_no_tensor():
    """Pillow's method takes (width, height) and a filter; torch's, of old, has the same name."""
    result = convert_source("import torch\n\n\ndef f(img):\n    return img.resize((2, 3), 2)\n")
    assert "return img.resize((2, 3), 2)" in result.code and not result.diagnostics
