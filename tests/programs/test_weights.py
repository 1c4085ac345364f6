"""Weights from torch: what has no place in params or state."""

import jax
import jax.numpy as jnp
import pytest
import torch

from transpile import convert_source, from_torch
from transpile.proof.weights import to_array

from ..against_torch import written
from ..small_programs import both_modules, load

nn = written("CrossEntropyLoss", "Linear", "utils.parametrizations.spectral_norm")


def test_the_class_weights_of_a_loss_must_be_those_it_was_built_with():
    source = torch.nn.CrossEntropyLoss(weight=torch.tensor([1.0, 3.0]))
    assert from_torch(source, nn.CrossEntropyLoss(weight=jnp.array([1.0, 3.0]))) == ({}, {})
    with pytest.raises(ValueError, match="weight is a constant of CrossEntropyLoss"):
        from_torch(source, nn.CrossEntropyLoss(weight=jnp.array([1.0, 2.0])))


def test_parametrizations_of_a_layer_by_the_names_of_torch():
    source = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(3, 2))
    params, state = from_torch(source, nn.ParametrizedSpectralNorm(nn.Linear(3, 2)))
    assert params["parametrizations"]["weight"]["original"].shape == (2, 3)
    assert {k: v.shape for k, v in state["parametrizations"]["weight"]["0"].items()} == {"_u": (2,), "_v": (3,)}


def test_a_computed_constant_must_be_what_the_source_holds():
    source = (
        "import torch\nfrom torch import nn\n\n\nclass M(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.register_buffer('mask', torch.full((n, n), float('-inf')).triu(1))\n\n    def forward(self, x):\n        return x + self.mask\n"
    )
    scope = {}
    exec(source, scope)
    torch_module, module = scope["M"](3), load(convert_source(source))["M"](3)
    assert from_torch(torch_module, module) == ({}, {})
    torch_module.mask[0, 1] = 5.0
    with pytest.raises(ValueError, match="mask is a constant of M"):
        from_torch(torch_module, module)


def test_a_table_that_is_built_may_differ_in_its_last_digits():
    """sin(4999 * 0.99) is known to 4999 roundings of the factor."""
    source = """import math

import torch
import torch.nn as nn


class M(nn.Module):
    def __init__(self, n=128, length=5000, kind="cosine"):
        super().__init__()
        if kind == "cosine":
            place = torch.arange(0, length).float().unsqueeze(1)
            pe = torch.zeros(length, n)
            factor = torch.exp(torch.arange(0, n, 2).float() * -(math.log(10000.0) / n))
            pe[:, 0::2] = torch.sin(place * factor)
            pe[:, 1::2] = torch.cos(place * factor)
        elif kind == "linear":
            pe = torch.arange(0, length).float().unsqueeze(1) / length
        else:
            raise ValueError
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.shape[0]]
"""
    torch_module, jax_module = both_modules(source, convert_source(source))
    from_torch(torch_module, jax_module)
    torch_module.pe[0, 0] = 0.01
    with pytest.raises(ValueError, match="another value than the source holds"):
        from_torch(torch_module, jax_module)


def test_a_sparse_buffer_is_dense_here():
    dense = torch.tensor([[0.0, 2.0], [0.0, 0.0]])
    assert (to_array(dense.to_sparse()) == dense.numpy()).all()


def test_state_in_lists_and_dicts():
    source = (
        "import torch\nfrom torch import nn\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.grid = [torch.zeros(1)] * 2\n        self.kept = {'a': torch.ones(2)}\n\n"
        "    def forward(self, x):\n        for i in range(2):\n            self.grid[i] = x * (i + 1)\n        self.kept['a'] = x + 1\n        return self.grid[0] + self.grid[1]\n"
    )
    torch_module, module = both_modules(source, convert_source(source))
    _, state = from_torch(torch_module, module)
    assert all(isinstance(a, jax.Array) for a in [*state["grid"], state["kept"]["a"]])
    y, state = jax.jit(module.__call__)(state, jnp.ones(2))
    assert y.tolist() == [3.0, 3.0] and state["kept"]["a"].tolist() == [2.0, 2.0]
    assert isinstance(torch_module.grid[0], torch.Tensor)
