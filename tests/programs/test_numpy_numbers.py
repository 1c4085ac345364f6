"""NumPy's numbers beside arrays: torch takes np.float64 for Python's float, so that bfloat16 stays what it is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source

from ..proof.comparison import assert_close
from ..small_programs import HEAD, both_modules, leaves, load

NUMPY = "import numpy as np\n" + HEAD
BODIES = {
    "a call": "return x * np.sqrt(5), np.sqrt(5) - x, x ** np.log(3)",
    "of a shape": "return x / np.sqrt(x.shape[-1]), x * np.prod(x.shape)",
    "arithmetic": "return x * (1 / np.sqrt(2 * np.pi)), x + np.log(2) * 0.5, x - -np.exp(1)",
    "a local name": "s = np.sqrt(5)\nn = int(np.ceil(np.log2(5)))\nreturn x * s, torch.cat([x] * n)",
    "a choice": "s = -np.log(2) if x.shape[0] > 2 else 1.0\nreturn x * s",
    "in place": "x = x.clone()\nx *= np.sqrt(5)\nx[0] += np.sqrt(2)\nreturn x",
    "an argument": "return torch.clamp(x, max=np.log(100)), torch.where(x > 0, x, np.sqrt(2)), x.mul(np.sqrt(2)), torch.add(x, x, alpha=np.sqrt(2))",
    "a type of NumPy's": "return x + np.float32(2), x * np.float64(0.1)",
    "integers": "i = x.long()\nreturn i * np.sqrt(2), i + np.prod(x.shape)",
    "a method of one": "n = np.ceil(np.log(x.shape[0])).astype(int).item()\nreturn x[:n] * np.ceil(np.log(5)).item()",
    "compared": "return x * (x > np.sqrt(2)), x if np.sqrt(5) > 2 else -x",
}  # fmt: skip
PROGRAMS = {name: "def f(x):\n" + "".join(f"    {line}\n" for line in body.split("\n")) for name, body in BODIES.items()}
PROGRAMS |= {
    "of the file": "SCALE = np.sqrt(2.0)\n\n\ndef f(x):\n    return x * SCALE\n",
    "a default": "def g(x, s=np.sqrt(2)):\n    return x * s\n\n\ndef f(x):\n    return g(x), g(x, 3), g(x, s=np.log(5))\n",
    "None by default": "def g(x, s=None):\n    s = 1 / np.sqrt(x.shape[-1]) if s is None else s\n    return x * s\n\n\ndef f(x):\n    return g(x), g(x, np.sqrt(2)), g(x, x)\n",
    "an attribute": "class M(nn.Module):\n    def __init__(self, dim, factor=None):\n        super().__init__()\n        self.a = np.sqrt(dim)\n        self.b = np.sqrt(5)\n        self.c = 1.0 if factor is None else np.log(factor)\n\n    def forward(self, x):\n        x = torch.relu(x)\n        x *= self.a\n        return x * self.a + self.b, x / self.c\n\n\ndef f(x):\n    return M(3)(x)\n",
    "of a config": "class M(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n        self.config = config\n\n    def forward(self, x):\n        return torch.relu(x) / np.sqrt(self.config.dim)\n\n\nclass C:\n    dim = 3\n\n\ndef f(x):\n    return M(C())(x)\n",
    "a mean": "class M(nn.Module):\n    def __init__(self, data):\n        super().__init__()\n        self.mean = np.asarray(data).mean()\n        self.std = np.std(np.asarray(data))\n\n    def forward(self, x):\n        return (torch.relu(x) - self.mean) / self.std\n\n\ndef f(x):\n    return M([1.0, 2.0, 5.0])(x)\n",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_dtypes(name):
    source = NUMPY + PROGRAMS[name]
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    want = leaves(scope["f"](torch.tensor([0.5, 1.75, -2.25]).abs().bfloat16()))
    run = load(result)["f"]
    got = leaves(run(jnp.abs(jnp.array([0.5, 1.75, -2.25])).astype(jnp.bfloat16)))
    for g, w in zip(got, want, strict=True):
        assert str(g.dtype).replace("int32", "int64") == str(w.dtype).removeprefix("torch."), result.code
        np.testing.assert_allclose(g.astype(float), w.float().numpy(), 2e-2, err_msg=result.code)


def test_tables_of_numpy_stay():
    body = "def f(n, d):\n    t = np.zeros((3, 2))\n    for i in range(3):\n        t[i, 0] = np.sin(i / 100)\n    u = np.array([[np.cos(i), np.exp(1)] for i in range(3)])\n    return torch.from_numpy(t + u)\n"
    assert "float(" not in convert_source(NUMPY + body).code


def test_code_of_the_host_stays():
    body = "def f(n):\n    k = int(np.ceil(np.log2(8)))\n    print(np.sqrt(2), f'{np.log(3):.2f}')\n    return torch.zeros(k), [1, 2, 3][int(np.sqrt(4))], np.sqrt(2) > 1\n"
    assert "float(" not in convert_source(NUMPY + body).code


@pytest.mark.parametrize("value", ["x / np.sqrt(length)", "np.log(length) * (x + y) - np.exp(y)"])
def test_of_what_a_forward_pass_is_given(value):
    """Under jit it is an array, whatever else it is by itself: a number is taken as well."""
    source = f"{NUMPY}class M(nn.Module):\n    def forward(self, x, y, length):\n        return {value}\n"
    result = convert_source(source)
    assert not result.diagnostics, result.code
    torch_module, module = both_modules(source, result)
    x, y, length = torch.tensor([1.0, 2.0]), torch.tensor([0.5, 3.0]), torch.tensor([4.0, 2.5])
    arrays = [jnp.asarray(t.numpy()) for t in (x, y, length)]
    assert_close(jax.jit(module.__call__)(*arrays), torch_module(x, y, length).numpy())
    assert_close(jax.jit(lambda a, b: module(a, b, 3))(*arrays[:2]), torch_module(x, y, 3).numpy())
