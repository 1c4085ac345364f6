"""Params whose data forward writes: values and gradients of the call are torch's, and a diagnostic says what does not last."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from .against_torch import float64
from .small_programs import HEAD, load

OWN = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = nn.Parameter(torch.randn(6))\n\n    def forward(self, x):\n"
WRITES = {
    "clamped": OWN + "        self.w.data.clamp_(-0.5, 0.5)\n        return x * self.w",
    "given data": OWN + "        self.w.data = F.normalize(self.w.data, dim=0)\n        return x * self.w",
    "divided": OWN + "        with torch.no_grad():\n            self.w /= self.w.norm()\n        return x * self.w",
    "in a branch": OWN + "        if x.shape[0] > 2:\n            self.w.data.mul_(0.5)\n        return x * self.w",
    "at the first call": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = nn.Parameter(torch.randn(6))\n        self.register_buffer('ready', torch.tensor(0))\n\n    def forward(self, x):\n        if not self.ready:\n            self.w[None].data.copy_(x.mean(0)).view_as(self.w)\n            self.ready += 1\n        return x * self.w",
    "of a submodule": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.line = nn.Linear(6, 6)\n\n    def forward(self, x):\n        self.line.weight.data.clamp_(-0.1, 0.1)\n        return self.line(x)",
    "of layers": "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lines = nn.ModuleList(nn.Linear(6, 6) for _ in range(2))\n\n    def forward(self, x):\n        for line in self.lines:\n            line.weight.data *= 0.5\n            x = line(x)\n        return x",
    "of the layer extended": "class M(nn.Linear):\n    def __init__(self):\n        super().__init__(6, 6)\n\n    def forward(self, x):\n        self.weight.data *= 0.5\n        return super().forward(x)",
}


@pytest.mark.parametrize("name", WRITES)
def test_values_and_gradients(name):
    source = HEAD + WRITES[name] + "\n"
    result = convert_source(source)
    assert {d.id for d in result.diagnostics} == {"parameter-write"}, (result.diagnostics, result.code)
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    with float64():
        torch_module, jax_module = scope["M"]().double(), load(result)["M"]()
        params, state = from_torch(torch_module, jax_module)
        x = torch.randn(4, 6, dtype=torch.float64)
        want = torch_module(x)
        want.sin().sum().backward()
        given = jax.tree.map(lambda leaf: leaf, params)
        got, back = jax.vjp(lambda params: jax_module.apply(params, state, jnp.asarray(x.numpy()))[0], params)
        (gradients,) = back(jnp.cos(got))
        assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), given, params)), "the caller's params changed"
        np.testing.assert_allclose(got, want.detach().numpy(), rtol=1e-12, atol=1e-12)
        for path, parameter in torch_module.named_parameters():
            leaf = gradients
            for key in path.split("."):
                leaf = leaf[key]
            np.testing.assert_allclose(leaf, parameter.grad.numpy(), rtol=1e-12, atol=1e-12)


def test_in_a_method_that_forward_calls_it_is_refused():
    result = convert_source(HEAD + OWN + "        self.clip()\n        return x * self.w\n\n    def clip(self):\n        self.w.data.clamp_(-0.5, 0.5)\n")
    assert [d.id for d in result.diagnostics] == ["parameter-write"]
    assert 'nn.unconverted("parameter-write"' in result.code


def test_a_method_that_forward_does_not_call_leaves_a_param():
    result = convert_source(HEAD + OWN + "        return x * self.w\n\n    def clip(self):\n        self.w.data.clamp_(-0.5, 0.5)\n")
    assert not result.diagnostics
    assert "def __call__(self, params, x):" in result.code
    assert "def clip(self, params):" in result.code
