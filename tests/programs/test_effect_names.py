"""Parameters of the user's that are called as keys, state or params are: each call gives them by the name that they have in the output."""

import jax
import jax.numpy as jnp
import numpy as np
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

_NAMED = (
    HEAD
    + '''class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def mix(self, query, key, state=None):
        return self.lin(key) + query

    def dropped(self, key, keys):
        return key + 0 * torch.rand(3) + keys + 0 * torch.rand(3)

    def plain(self, key):
        return key * 2

    def forward(self, queries, keys, key):
        return self.mix(query=queries, key=key) + self.dropped(key=key, keys=keys) + self.plain(key=keys)


def dropped(key, keys):
    return key + 0 * torch.rand(3) + keys + 0 * torch.rand(3)


def twice(keys):
    if keys.sum() > 0:
        keys = keys * 2
    return keys


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = Attend()

    def forward(self, x):
        keys = twice(x + 1)
        return self.attend(queries=x, keys=keys, key=x) + dropped(key=x, keys=keys) + 0 * torch.rand(3)
'''
)


def test_arguments_that_are_called_as_effects_are():
    result = convert_source(_NAMED)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(_NAMED, result)
    params, _ = from_torch(torch_module, module)
    for sign in (1, -1):
        x = torch.ones(2, 3) * sign * 2
        got = jax.jit(module)(params, jnp.asarray(x.numpy()), key=jax.random.key(0))
        np.testing.assert_allclose(got, torch_module(x).detach().numpy(), 1e-5, 1e-6)
