"""Tensors of one number beside arrays: they take the dtype of what they meet, where both are of a kind."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from ..small_programs import both, leaves

PROGRAMS = {
    "x * torch.tensor(2.0), torch.tensor(3) - x, x / torch.tensor(2), torch.tensor(2.0) ** x": "x * 2.0, 3 - x, x / 2, 2.0**x",
    "torch.relu(x) * torch.tensor(3, dtype=torch.float32), x + torch.as_tensor(1e-5)": "jax.nn.relu(x) * float(3), x + 1e-5",
    "x / torch.sqrt(torch.tensor(x.shape[-1])), x * torch.log(torch.tensor(2.0))": "x / jnp.sqrt(x.shape[-1]), x * jnp.log(2.0)",
    "torch.where(x > 1, x, torch.tensor(-1e9)), torch.maximum(x, torch.tensor(1.0))": "jnp.where(x > 1, x, -1e9), jnp.maximum(x, 1.0)",
    "torch.where(x > 1, torch.tensor(1.0), torch.tensor(2.0)), torch.tensor(1.0) + torch.tensor(2.0)": None,
    "x * torch.tensor([2.0]), x.long() * torch.tensor(0.5), x * torch.tensor(2.0, dtype=x.dtype)": None,
}


@pytest.mark.parametrize("expressions", PROGRAMS)
def test_dtypes(expressions):
    torch_f, jax_f, code = both(f"def f(x):\n    x = torch.abs(x)\n    return {expressions}")
    want, got = leaves(torch_f(torch.tensor([0.5, 1.75, -2.25]).bfloat16())), leaves(jax_f(jnp.array([0.5, 1.75, -2.25], jnp.bfloat16)))
    assert PROGRAMS[expressions] is None or f"return {PROGRAMS[expressions]}\n" in code, code
    for g, w in zip(got, want, strict=True):
        assert str(g.dtype) == str(w.dtype).removeprefix("torch."), code
        np.testing.assert_allclose(g.astype(float), w.float().numpy(), 2e-2, err_msg=code)
