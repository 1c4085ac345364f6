"""Properties of modules: their setters are called, and what they read may be state."""

import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..proof.comparison import assert_close
from ..small_programs import HEAD, both_modules

MODULE = HEAD + """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self._scale = 1.0
        self.register_buffer("_count", torch.zeros(1))
        self.scale = 4.0

    @property
    def scale(self):
        return self._scale * 2

    @scale.setter
    def scale(self, value):
        self._scale = value / 2

    @property
    def count(self):
        return self._count[0]

    @count.setter
    def count(self, value):
        self._count.fill_(value)

    def reset(self, value):
        self.scale = value

    def forward(self, x):
{body}
"""
BODIES = {
    "read": "return x * self.scale + self.count",
    "written": "self.count = self.count + 2\nself.count += 1\nreturn x * self.count",
    "written by a method": "y = x * self.scale\nself.reset(6.0)\nreturn y + self.scale * 10",
}


@pytest.mark.xfail(strict=True, reason="a property with a setter whose value is state: it is refused, and would be two methods")
@pytest.mark.parametrize("name", BODIES)
def test_two_calls(name):
    source = MODULE.format(body="".join(f"        {line}\n" for line in BODIES[name].splitlines()))
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, jax_module = both_modules(source, result)
    params, state = from_torch(torch_module, jax_module)
    for x in torch.randn(2, 3, 4):
        got, state = jax_module.apply(params, state, x.numpy())
        assert_close(got, torch_module(x).numpy(), err_msg=result.code)


@pytest.mark.parametrize("name", BODIES)
def test_a_setter_is_refused(name):
    source = MODULE.format(body="".join(f"        {line}\n" for line in BODIES[name].splitlines()))
    assert {d.id for d in convert_source(source).diagnostics} == {"unsupported"} | ({"dynamic-attribute"} if name != "read" else set())


COMPUTED = """class T(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(4.0))
        self.register_buffer("total", torch.zeros(4))

    @property
    def doubled(self):
        return self.weight * 2

    @property
    def both(self):
        return self.doubled + self.total

    def forward(self, x):
        self.total += 1
        return x * self.both


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = T()

    def forward(self, x):
        return self.t(x) + self.t.doubled + self.t.both
"""


def test_what_computes_with_params_and_state_is_a_method():
    source = HEAD + COMPUTED
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, jax_module = both_modules(source, result)
    params, state = from_torch(torch_module, jax_module)
    for x in torch.randn(2, 3, 4):
        got, state = jax_module.apply(params, state, x.numpy())
        assert_close(got, torch_module(x).detach().numpy(), err_msg=result.code)


TOKENS = (
    "class Tokens(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.n = n\n        self.weight = nn.Parameter(torch.ones(n, 3))\n\n"
    "    @property\n    def n_tokens(self):\n        return len(self.weight)\n\n    @property\n    def half(self):\n        return self.n // 2\n\n    def forward(self, x):\n        return x @ self.weight.t() * self.n_tokens\n\n\n"
)


@pytest.mark.parametrize("name", ["n_tokens", "half"])
def test_a_property_that_needs_params_is_run_for_its_size_in_a_constructor(name):
    net = f"class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.tokens = Tokens(4)\n        n = self.tokens.{name}\n        self.fc = nn.Linear(n, 2)\n\n    def forward(self, x):\n        return self.fc(self.tokens(x)[:, : self.fc.in_features])\n"
    source = "import torch\nimport torch.nn as nn\n\n\n" + TOKENS + net
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, jax_module = both_modules(source, result)
    params, state = from_torch(torch_module, jax_module)
    x = torch.randn(2, 3)
    got, _ = jax_module.apply(params, state, x.numpy())
    assert_close(got, torch_module(x).detach().numpy(), err_msg=result.code)


def _given(forward, prop="return self.total"):
    return f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('total', torch.zeros(3))\n\n    @property\n    def seen(self):\n        {prop}\n\n    def forward(self, x):\n        {forward}\n        return x * getattr(self, 'total')\n"


# how forward writes the buffer, and what the property returns
WRITES = {
    "in place": ("self.seen.add_(x.sum(0))", "return self.total"),
    "all of it": ("self.seen[:] = x.sum(0)", "return getattr(self, 'total')"),
    "an element": ("self.seen[1] += x.sum()", 'return self._buffers["total"]'),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_buffer_is_written_through_a_property(name):
    source = _given(*WRITES[name])
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(source, result)
    x = torch.randn(2, 3)
    _, state = from_torch(torch_module, module)
    for _ in range(2):
        want = torch_module(x)
        got, state = module(state, x.numpy())
        np.testing.assert_allclose(got, want.numpy(), 1e-5, 1e-6, err_msg=result.code)
    assert state.keys() == {"total"}


def test_a_write_through_a_property_that_does_more_is_refused():
    for written, prop in (("self.seen.add_(1)", "return self.total if self.training else self.total[:]"), ("self.seen[0][:] = 1", "return [self.total]")):
        result = convert_source(_given(written, prop))
        assert [(d.id, d.line) for d in result.diagnostics] == [("aliased-write", 18)], (result.diagnostics, result.code)


def test_what_python_calls_itself_is_given_no_params():
    source = HEAD + (
        "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.weight = nn.Parameter(torch.ones(3))\n\n"
        "    def forward(self, x):\n        return x * self.weight\n\n    def __len__(self):\n        return len(self.weight)\n\n"
        "    def __repr__(self):\n        return f'M({self.weight.shape[0]})'\n"
    )
    result = convert_source(source)
    assert [(d.id, d.line) for d in result.diagnostics] == [("unsupported", source[: source.index("return len")].count("\n") + 1), ("unsupported", source[: source.index("def __repr__")].count("\n") + 1)]
    _, made = both_modules(source, result)
    assert "M" in repr(made)
    with pytest.raises(NotImplementedError):
        len(made)
