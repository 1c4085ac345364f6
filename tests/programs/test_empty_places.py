"""None in a ModuleList or ModuleDict has a place of its own, and what comes after it keeps its number."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

MODULE = """def exists(v):
    return v is not None

class M(nn.Module):
    def __init__(self, dim=4, depth=2):
        super().__init__()
        self.depth = depth
        self.layers = nn.ModuleList([])
        self.up = nn.ModuleList([])
        for i in range(depth):
            last = i == depth - 1
            self.layers.append(nn.ModuleList([nn.Linear(dim, dim), nn.BatchNorm1d(dim) if not last else None]))
            self.up.append(nn.Linear(dim, dim) if last else None)
        self.up.insert(0, None)
        self.up.extend([nn.Linear(dim, dim), None])
        self.up[3] = nn.Linear(dim, dim)
        self.up[-2] = None
        self.named = nn.ModuleDict({"a": nn.Linear(dim, dim), "b": None})

    def forward(self, x):
        for lin, norm in self.layers:
            x = lin(x)
            if exists(norm):
                x = norm(x)
        for layer in reversed(self.layers):
            if layer[1] is not None:
                x = layer[1](x)
        for (lin, norm), up in zip(self.layers, self.up):
            x = lin(x)
            if norm is not None:
                x = norm(x) + 1
            if up:
                x = up(x)
        for up in self.up[1:]:
            x = up(x) if up is not None else x * 2
        for i in range(self.depth):
            if self.up[i] is not None:
                x = self.up[i](x)
            x = x + len(self.layers[i])
        for name, m in self.named.items():
            if m is not None:
                x = m(x)
            x = x * len(name)
        if self.layers[-1][1] is None:
            x = x + len(self.named)
        for i, up in enumerate(reversed(self.up)):
            x = x + i
            if exists(up):
                x = up(x)
        for up in self.up[1:3] + self.up[-1:]:
            if up is not None:
                x = up(x)
        return x + len(self.up) + sum(up is None for up in self.up)
"""


@pytest.mark.parametrize("training", [False, True])
def test_none_keeps_its_place(training):
    result = convert_source(HEAD + MODULE)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(HEAD + MODULE, result)
    params, state = from_torch(torch_module, module)
    assert jax.tree.structure(module.init(jax.random.key(0))) == jax.tree.structure(params)
    x = torch.randn(3, 4)
    got, _ = module(params, state, jnp.asarray(x.numpy()), training=training)
    np.testing.assert_allclose(got, torch_module.train(training)(x).detach(), 1e-4, 1e-5, err_msg=result.code)
