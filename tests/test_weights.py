"""Weights from torch: what has no place in params or state."""

import jax.numpy as jnp
import pytest
import torch

from rules.class_loss_layers import CrossEntropyLoss
from rules.linear_layers import Linear
from rules.parametrization import ParametrizedSpectralNorm
from transpile import convert_source, from_torch

from .small_programs import load


def test_the_class_weights_of_a_loss_must_be_those_it_was_built_with():
    source = torch.nn.CrossEntropyLoss(weight=torch.tensor([1.0, 3.0]))
    assert from_torch(source, CrossEntropyLoss(weight=jnp.array([1.0, 3.0]))) == ({}, {})
    with pytest.raises(ValueError, match="weight is a constant of CrossEntropyLoss"):
        from_torch(source, CrossEntropyLoss(weight=jnp.array([1.0, 2.0])))


def test_parametrizations_of_a_layer_by_the_names_of_torch():
    source = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(3, 2))
    params, state = from_torch(source, ParametrizedSpectralNorm(Linear(3, 2)))
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
