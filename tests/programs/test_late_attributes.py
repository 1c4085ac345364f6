"""Attributes that methods set and ask for are state: the second call finds what the first has set."""

import textwrap

import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..proof.comparison import assert_close
from ..small_programs import HEAD, both_modules

FORWARDS = {
    "hasattr": 'if not hasattr(self, "mask"):\n    self.register_buffer("mask", torch.ones(x.shape).triu())\nelif hasattr(self, "mask"):\n    x = x + 1\nreturn x * self.mask',
    "getattr": 'if getattr(self, "seen", None) is not None:\n    x = x + self.seen\nself.seen = x\nreturn x',
    "registered again": 'self.register_buffer("total", x if self.total is None else self.total + x, persistent=False)\nreturn self.total * 2',
    "in a helper": "if self.total is None:\n    self.keep(x)\nreturn x + self.total",
}
MODULE = HEAD + """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", None, persistent=False)

    def keep(self, x):
        self.register_buffer(name="total", tensor=x * 3)

    def forward(self, x):
{body}
"""


@pytest.mark.parametrize("name", FORWARDS)
def test_two_calls(name):
    source = MODULE.format(body=textwrap.indent(FORWARDS[name], " " * 8))
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, jax_module = both_modules(source, result)
    state = jax_module.init_state(None)
    for x in torch.randn(3, 4, 4):
        got, state = jax_module(state, x.numpy())
        assert_close(got, torch_module(x).numpy(), err_msg=result.code)


DEPLOYED = HEAD + """
class M(nn.Module):
    def __init__(self, deploy):
        super().__init__()
        if deploy:
            self.fused = nn.Linear(4, 4)
        else:
            self.dense, self.skip = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        if hasattr(self, "fused"):
            return self.fused(x)
        return self.dense(x) + self.skip(x)

    def deploy(self):
        self.fused = self.dense
"""


@pytest.mark.parametrize("deploy", [True, False])
def test_a_module_that_the_constructor_makes_on_one_way_is_asked_for(deploy):
    """The method that puts another in its place is not called here."""
    result = convert_source(DEPLOYED)
    torch_module, jax_module = both_modules(DEPLOYED, result, deploy)
    params, state = from_torch(torch_module, jax_module)
    x = torch.randn(3, 4)
    got = jax_module.apply(params, state, x.numpy())[0]
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), rtol=1e-5, atol=1e-6, err_msg=result.code)


HIDDEN = {
    "setattr": "for name in ('t',):\n    setattr(self, name, getattr(self, name) + x)",
    "its dict": "self.__dict__['t'] = self.t + 1",
    "vars": "vars(self)['t'] = self.t + 1",
    "an update": "self.__dict__.update(t=self.t + 1)",
    "the buffers": "self._buffers['m0'] = self.m0 + x",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_forward_sets_around_the_name_of_an_attribute_is_reported(name):
    lines = "".join(f"        {line}\n" for line in HIDDEN[name].splitlines())
    init = "        super().__init__()\n        self.t = torch.ones(3)\n        for i in range(2):\n            self.register_buffer(f'm{i}', torch.zeros(3))\n"
    source = f"import torch\nimport torch.nn as nn\n\n\nclass M(nn.Module):\n    def __init__(self):\n{init}\n    def forward(self, x):\n{lines}        return x * self.t\n"
    assert "dynamic-attribute" in {d.id for d in convert_source(source).diagnostics}
