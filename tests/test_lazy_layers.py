"""Layers that torch completes at their first input: they take its weights, and say that they can make none."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from rules import lazy_layers
from transpile import convert_source, from_torch

from .against_torch import float64

LAYERS = [
    ("LazyLinear", (4,), (2, 3)),
    ("LazyConv2d", (4, 3), (2, 3, 5, 5)),
    ("LazyConvTranspose1d", (4, 3, 2), (2, 3, 5)),
    ("LazyBatchNorm1d", (), (4, 3, 5)),
]


@pytest.mark.parametrize(("name", "args", "shape"), LAYERS)
def test_with_weights_of_torch(name, args, shape):
    with float64():
        original, layer = getattr(torch.nn, name)(*args), getattr(lazy_layers, name)(*args)
        original(x := torch.randn(shape))
        original.eval()
        params, state = from_torch(original, layer)
        given = (params, state) if state else (params,)
        got = layer(*given, jnp.asarray(x.numpy()))
        np.testing.assert_allclose(got[0] if state else got, original(x).detach().numpy(), 1e-9)
        with pytest.raises(NotImplementedError, match=f"use {name[4:]} with its sizes"):
            layer.init(jax.random.key(0))


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_they_are_reported(target):
    source = "import torch.nn as nn\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.f = nn.LazyLinear(3)\n\n    def forward(self, x):\n        return self.f(x)\n"
    result = convert_source(source, target)
    assert [(d.id, d.line) for d in result.diagnostics] == [("unsupported", 7)]
    assert "give the layer its size" in result.diagnostics[0].message
