"""A dtype that a call on a tensor is given casts, even under the name by which constructors hand placement on."""

import jax.numpy as jnp
import pytest
import torch

from transpile import convert_source

from ..small_programs import HEAD, leaves, load

PROGRAMS = {
    "casts": "def f(x, i):\n    dtype = i.dtype\n    return F.softmax(x.float(), -1).to(dtype=dtype), i.to(device=x.device, dtype=dtype), x.mul(3).to(dtype=dtype)\n",
    "reductions": "def f(x, i):\n    dtype = i.dtype\n    return x.sum(dtype=dtype), x.cumsum(0, dtype=dtype), (x + 1).prod(dtype=dtype)\n",
    "new tensors": "def f(x, i):\n    dtype = i.dtype\n    return x.new_zeros(3, dtype=dtype), x.new_ones(2, device=x.device, dtype=dtype)\n",
    "a dict of them": "def f(x, i):\n    like = {'device': i.device, 'dtype': i.dtype}\n    return x.to(**like), x.new_ones(2, **like), torch.zeros(2, **like)\n",
    "a function that is picked": "def f(x, i):\n    dtype = i.dtype\n    total = torch.sum if x.dim() == 1 else torch.prod\n    return total(x, dtype=dtype)\n",
    "None by default": "def g(x, device=None, dtype=None):\n    return x.to(device=device, dtype=dtype), x.add(1).to(device, dtype), x.to(dtype)\n\n\ndef f(x, i):\n    return g(i), g(x), g(x, dtype=i.dtype), g(i, None, torch.float32)\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_dtypes(name):
    result = convert_source(HEAD + PROGRAMS[name])
    assert not result.diagnostics, result.code
    scope = {}
    exec(compile(HEAD + PROGRAMS[name], "program.py", "exec"), scope)
    want = leaves(scope["f"](torch.tensor([0.5, 1.7, -2.2]), torch.tensor([1, 2, 3], dtype=torch.int32)))
    got = leaves(load(result)["f"](jnp.array([0.5, 1.7, -2.2]), jnp.array([1, 2, 3])))
    for g, w in zip(got, want, strict=True):
        assert str(g.dtype) == str(w.dtype).removeprefix("torch."), result.code
        assert jnp.allclose(g, w.numpy()), result.code


def test_constructors_hand_placement_on():
    made = "class M(nn.Module):\n    def __init__(self, norm=nn.LayerNorm, device=None, dtype=None):\n        super().__init__()\n        self.norm = norm(3, device=device, dtype=dtype)\n\n    def forward(self, x):\n        return self.norm(x)\n"
    assert "norm(3, dtype=dtype)" in convert_source(HEAD + made).code


def test_what_does_nothing_leaves_no_statement():
    code = convert_source("import torch\n\n\ndef f(x):\n    torch.cuda.synchronize()\n    return torch.exp(x)\n").code
    assert code.endswith("def f(x):\n    return jnp.exp(x)\n")


def test_a_branch_that_only_synchronised_goes():
    code = convert_source(
        "import torch\n\n\ndef f(x, timed):\n    if timed:\n        torch.cuda.synchronize()\n    return torch.exp(x)\n"
    ).code
    assert code.endswith("def f(x, timed):\n    return jnp.exp(x)\n")
