"""`hasattr(self, "w")` and its like ask params and state for arrays, which no module has as attributes."""

import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

MODULE = """class Inner(nn.Module):
    def __init__(self, there):
        super().__init__()
        self.a = nn.Parameter(torch.full((3,), 5.0))
        if there:
            self.w = nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x):
        return x * self.a


class M(nn.Module):
    def __init__(self, there):
        super().__init__()
        self.fc = nn.Linear(3, 3, bias=False)
        self.inner, self.blocks = Inner(there), nn.ModuleList([Inner(there), Inner(not there)])
        self.a = nn.Parameter(torch.full((3,), 3.0))
        if there:
            self.w = nn.Parameter(torch.full((3,), 2.0))
            self.register_buffer("n", torch.zeros(3))
        if there:
            self.late = nn.Parameter(torch.ones(3))
        else:
            self.late = None
        self.names = ("a", "w", "q")

    def has(self, name):
        return hasattr(self, name)

    def forward(self, x):
        x = self.fc(x)
"""
ASKED = {
    "a param": ('if hasattr(self, "w"):\n    x = x * self.w', 'if "w" in params:'),
    "denied": ('if not hasattr(self, "w"):\n    x = x * 4', 'if "w" not in params:'),
    "a buffer that is written": ('if hasattr(self, "n"):\n    self.n += x.detach().mean(0)\n    x = x + self.n', 'if "n" in state:'),
    "taken": ('w = getattr(self, "w", None)\nif w is not None:\n    x = x * w', 'w = params.get("w")'),
    "taken with a default": ('x = x * getattr(self, "w", 4.0)', 'params.get("w", 4.0)'),
    "None on the other way": ('if hasattr(self, "late"):\n    x = x * 4', "if True:"),
    "compared": ('x = x * ((hasattr(self, "w") == True) + 2)', '("w" in params) == True'),
    "a submodule's": ('if hasattr(self.inner, "w"):\n    x = x * self.inner.w', 'if "w" in params["inner"]:'),
    "one of a list's": ('for block in self.blocks:\n    if hasattr(block, "w"):\n        x = block(x) * block.w', '"w" in params["blocks"][name]'),
    "a layer's": ('if hasattr(self.fc, "bias"):\n    x = x * 4', "if True:"),
    "by a computed name": ("for name in self.names:\n    if hasattr(self, name):\n        x = x * 4", 'if name in params or state.get(name) is not None or name == "late" or hasattr(self, name):'),
    "in a method": ('if self.has("w"):\n    x = x * 4', 'return name in params or state.get(name) is not None or name == "late" or hasattr(self, name)'),
    "for a parameter": ("if isinstance(self.a, nn.Parameter):\n    x = x * self.a", 'x = x * params["a"]\n        return x'),
}


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("name", ASKED)
def test_arrays_are_asked_for_where_they_are(name, there):
    body, part = ASKED[name]
    source = HEAD + MODULE + "".join(f"        {line}\n" for line in body.splitlines()) + "        return x\n"
    result = convert_source(source)
    assert not result.diagnostics and part in result.code, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result, there)
    torch_module.eval()
    params, state = from_torch(torch_module, module)
    x = torch.randn(2, 3)
    got = jax.jit(module.__call__)(*([params, state] if "state, x" in result.code else [params]), jnp.asarray(x.numpy()))
    np.testing.assert_allclose(got[0] if isinstance(got, tuple) else got, torch_module(x).detach().numpy(), 1e-5, 1e-5)


FILLED = """class M(nn.Linear):
    def __init__(self, there):
        nn.Linear.__init__(self, 3, 4)
        if there:
            self.w = nn.Parameter(self.weight.new_zeros(200))
        self.weight.requires_grad = False
        self.reset_parameters()

    def reset_parameters(self):
        nn.Linear.reset_parameters(self)
        if hasattr(self, "w"):
            nn.init.normal_(self.w)

    def forward(self, x):
        return nn.Linear.forward(self, x)
"""
MIXED = FILLED.replace("class M(nn.Linear)", "class Scale:\n    def __init__(self, scale):\n        self.scale = scale\n\n\nclass M(nn.Linear, Scale)").replace("        if there:", "        Scale.__init__(self, scale=2)\n        if there:")


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("source", [FILLED, MIXED])
def test_an_initialiser_asks_for_what_it_fills(source, there):
    result = convert_source(HEAD + source)
    assert {d.id for d in result.diagnostics} == {"frozen-param"}, (result.diagnostics, result.code)
    torch_module, module = both_modules(HEAD + source, result, there)
    params, made = from_torch(torch_module, module)[0], module.init(jax.random.key(0))
    assert jax.tree.structure(params) == jax.tree.structure(made), result.code
    assert not there or 0.8 < float(made["w"].std()) < 1.2, result.code
    assert 0.1 < float(jnp.abs(made["weight"]).max()) < 0.6


LATE = """class Base(nn.Module):
    def forward(self, x):
        if hasattr(self, "prev"):
            x = x + self.prev
        return self.remember(x)


class Inner(Base):
    def remember(self, x):
        self.prev = x.detach()
        return x


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        n = 2 if hasattr(self.inner, "prev") else 1
        k = len([name for name in ("prev", "next") if hasattr(self.inner, name)])
        prev = getattr(self.inner, "prev", None)
        y = self.inner(x) * n + k
        return y if prev is None else y - prev
"""


def test_what_a_call_is_yet_to_set_is_not_there():
    result = convert_source(HEAD + LATE)
    assert not result.diagnostics, result.code
    torch_module, module = both_modules(HEAD + LATE, result)
    state, x = module.init_state(jax.random.key(0)), torch.randn(2, 3)
    for _ in range(2):
        y, state = module(state, jnp.asarray(x.numpy()))
        np.testing.assert_allclose(y, torch_module(x).numpy(), 1e-5, 1e-6)


def test_a_param_is_asked_for_once():
    source = HEAD + textwrap.dedent("""
        def fill(m):
            if hasattr(m, "weight") and m.weight is not None:
                nn.init.ones_(m.weight)


        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(2, 2)
                self.apply(fill)

            def forward(self, x):
                return self.fc(x)
        """)
    assert 'if nn.has(m, "weight"):' in convert_source(source).code
