"""Classes that are no modules, and that modules have among their bases: they read the params of the layer, and their arrays are made with its own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

MIXIN = """class Normed(object):
    def __init__(self, n):
        self.register_buffer("u", torch.randn(1, n))

    def normed(self):
        w = self.weight.view(self.weight.shape[0], -1)
        with torch.no_grad():
            v = F.normalize(self.u @ w)
        if self.training:
            self.u[:] = F.normalize(v @ w.t())
        return self.weight / v.norm()


"""
MODULE = """class M({bases}):
    def __init__(self, *args, **kwargs):
        nn.Linear.__init__(self, 3, 4, *args, **kwargs)
        {mixin}.__init__(self, 4)
{more}
    def forward(self, x):
        return F.linear(x, self.normed(), self.bias)
"""
PROGRAMS = {
    "behind the layer": ("nn.Linear, Normed", ""),
    "in front of it": ("Normed, nn.Linear", ""),
    "of two classes": ("nn.Linear, Normed", "class Other(nn.Conv2d, Normed):\n    def forward(self, x):\n        return self.normed()\n"),
    "of a layer with a state": ("StateLinear, Normed", "class StateLinear(nn.Linear):\n    def __init__(self, n, m):\n        nn.Linear.__init__(self, n, m)\n        self.register_buffer('seen', torch.zeros(1))\n\n\n"),
    "by a class between": ("nn.Linear, Between", "class Between(Normed):\n    pass\n\n\n"),
}  # fmt: skip


@pytest.mark.parametrize("more", ["", "        self.register_buffer('calls', torch.zeros(1))\n"], ids=["", "beside its own"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_its_arrays_are_those_of_the_module(name, more):
    bases, before = PROGRAMS[name]
    source = HEAD + MIXIN + before + MODULE.format(bases=bases, more=more, mixin="Between" if "Between" in bases else "Normed")
    source = source.replace("nn.Linear.__init__(self, 3", "StateLinear.__init__(self, 3") if "State" in bases else source
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    params, state = from_torch(torch_module, module)
    key, shapes = jax.random.key(0), lambda arrays: jax.tree.map(jnp.shape, arrays)
    assert (shapes(params), shapes(state)) == (shapes(module.init(key)), shapes(module.init_state(key)))
    x = torch.randn(2, 3)
    for _ in range(2):
        want = torch_module(x).detach()
        got, state = module(params, state, jnp.asarray(x.numpy()), training=True)
        np.testing.assert_allclose(got, want.numpy(), 1e-5, 1e-6, err_msg=result.code)
