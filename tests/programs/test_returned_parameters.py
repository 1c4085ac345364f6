"""Parameters that functions make and return: `self.w = get_param(n)` holds the declaration, and what the function fills it with are its first values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

MAKE = "def make(*sizes):\n    return nn.Parameter(nn.init.xavier_normal_(torch.zeros(*sizes)))\n\n\n"
FILL = "def make(*sizes):\n    w = nn.Parameter(torch.Tensor(*sizes))\n    nn.init.constant_(w.data, 0.5)\n    return w\n\n\n"
# what comes first, the body of M's constructor, what its forward gives
PROGRAMS = {
    "assigned": (MAKE, "self.w = make(3, 4)\nself.b = nn.Parameter(torch.ones(4))", "x @ self.w + self.b"),
    "registered": (MAKE, "self.register_parameter('w', make(3, 4))\nself.register_parameter('b', None)", "x @ self.w"),
    "under computed names": (MAKE, "for i in range(2):\n    self.register_parameter(f'w{i}', make(3, 3))", "x @ getattr(self, f'w{0}') @ getattr(self, f'w{1}')"),
    "filled": (FILL, "self.w = make(3, 4)", "x @ self.w"),
    "by a method": ("", "self.w = self.make(3, 4)", "x @ self.w"),
    "on one way": (MAKE, "self.w = make(3, 4)\nself.b = make(1, 4) if self.w is None else None", "x @ self.w if self.b is None else x"),
    "in a branch": (MAKE, "wide = len(str(3)) == 1\nif wide:\n    self.w = make(3, 4)\nelse:\n    self.w = nn.Parameter(torch.zeros(3, 4))", "x @ self.w"),
}  # fmt: skip
METHOD = "    def make(self, *sizes):\n        w = nn.Parameter(torch.empty(*sizes))\n        nn.init.xavier_uniform_(w, gain=nn.init.calculate_gain('relu'))\n        return w\n\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_params(name):
    before, constructor, result = PROGRAMS[name]
    body = "".join(f"        {line}\n" for line in constructor.splitlines())
    source = f"{HEAD}{before}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n{body}\n{METHOD}    def forward(self, x):\n        return {result}\n"
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    params, _ = from_torch(torch_module, module)
    first = module.init(jax.random.key(0))
    assert jax.tree.map(jnp.shape, params) == jax.tree.map(jnp.shape, first)
    assert (np.std(first["w"]) > 0.1 if before != FILL else (first["w"] == 0.5).all()) if "w" in first else True
    x = torch.randn(2, 3)
    got = jax.jit(module)(params, jnp.asarray(x.numpy()))
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), 1e-5, 1e-6, err_msg=result.code)


REFUSED = {
    "filled on one way": "    if n > 2:\n        nn.init.zeros_(w)\n",
    "drawn once and read twice": "    w.data.div_(w.norm())\n",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_one_statement_is_refused(name):
    source = f"{HEAD}def make(n):\n    w = nn.Parameter(torch.randn(n))\n{REFUSED[name]}    return w\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = make(3)\n\n    def forward(self, x):\n        return x * self.w\n"
    result = convert_source(source)
    assert {d.id for d in result.diagnostics} == {"module-value"}, (result.diagnostics, result.code)
