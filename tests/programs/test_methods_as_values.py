"""Methods as values: what they need is bound to them, or they are reported."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

MODULE = HEAD + """from torch.utils.checkpoint import checkpoint


class M(nn.Module):
    def __init__(self, n=4, flag=True):
        super().__init__()
        self.line, self.norm, self.flag = nn.Linear(n, n), nn.BatchNorm1d(n), flag
        self.lines = nn.ModuleList([nn.Linear(n, n) for _ in range(2)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(n) for _ in range(2)])
        {kept}

    def up(self, x):
        return self.line(x)

    def scaled(self, x, y):
        return self.line(x) * y

    def down(self, x):
        return x * 0.5

    def dropped(self, x):
        return F.dropout(x, 0.5, self.training)

    def normed(self, x):
        return self.norm(x)

    def run(self, f, x):
        return f(x)

    def forward(self, x):
        {body}
"""

CONVERTED = {
    "mapped": "return torch.stack(list(map(self.up, [x, x * 2]))).sum(0) + sum(map(self.scaled, [x, x], (2, 3)))",
    "handed on with state": "return self.run(self.normed, x)",
    "mapped with state": "a, b = map(self.normed, (x, x + 1))\n        return a + b",
    "mapped with draws": "return sum(map(self.dropped, [x, x]))",
    "a module mapped": "for y in map(self.line, x.chunk(2)):\n            x = x + y.sum()\n        return x",
    "each of a list mapped": "x = torch.cat(tuple(map(lambda f: f(x), self.lines)), dim=1)[:, 1:5]\n        return sum(map(lambda f, y: f(y), reversed(self.lines), (x, x + 1)))",
    "each of a list mapped, with state": "a, b = map(lambda f: f(x).tanh(), self.norms)\n        return a * b + sum(list(map(lambda f: f(x), (torch.sin, torch.cos))))",
    "chosen": "f = self.up if self.flag else self.down\n        return f(x)",
    "chosen in a branch": "if self.flag:\n            f = self.up\n        else:\n            f = self.down\n        return f(x)",
    "another name": "f = self.dropped\n        return f(x)",
    "one that draws": "f = self.dropped if self.flag else self.up\n        return f(x)",
    "set twice": "f = None\n        if self.flag:\n            f = self.up\n        return f(x)",
    "in a list": "for f in [self.up, self.down, self.up]:\n            x = f(x)\n        return x",
    "an argument": "return self.run(self.up, x)",
    "an argument of two kinds": "return self.run(self.up, x) + self.run(self.down, x)",
    "checkpointed": "return checkpoint(self.up, x) + checkpoint(self.dropped, x, use_reentrant=False)",
}  # fmt: skip
EACH = {
    "named": "f = self.dropped\n        return f(x), f(x)",
    "in a loop": "f, out = self.dropped, []\n        for _ in range(2):\n            out.append(f(x))\n        return out",
    "mapped": "return list(map(self.dropped, [x, x]))",
    "in a list": "return [f(x) for f in [self.dropped, self.dropped]]",
    "a closure mapped": "def g(t):\n            return F.dropout(t, 0.5)\n        return list(map(g, [x, x]))",
    "a closure beside what draws nothing": "def g(t):\n            return F.dropout(t, 0.5) + self.run(self.down, t)\n        return self.run(g, x), self.run(g, x)",
}  # fmt: skip
REPORTED = {
    "state": ("f = self.normed\n        return self.run(f, x)", "pass"),
    "kept": ('return self.act["up"](x)', 'self.act = {"up": self.up, "down": self.down}'),
}  # fmt: skip


CLOSURE = """def make(module):
            def inner(*inputs):
                return module(*inputs)
            return inner
        return checkpoint(make(self.drop), checkpoint(make(self.line), x))"""



@pytest.mark.parametrize("name", CONVERTED)
def test_a_method_as_a_value(name):
    source = MODULE.format(kept="pass", body=CONVERTED[name])
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    compare(source, result)


def test_a_closure_calls_a_module_that_comes_bound():
    """As transformers and diffusers checkpoint their blocks."""
    source = MODULE.format(kept="self.drop = nn.Dropout(0.5)", body=CLOSURE)
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    compare(source, result)


def compare(source, result):
    torch_module, jax_module = both_modules(source, result)
    torch_module.eval()
    params, state = from_torch(torch_module, jax_module)
    x = torch.randn(4, 4)
    got = jax_module.apply(params, state, x.numpy())[0]
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), rtol=1e-4, atol=1e-5, err_msg=result.code)


@pytest.mark.parametrize("name", REPORTED)
def test_what_cannot_be_bound_is_reported(name):
    body, kept = REPORTED[name]
    result = convert_source(MODULE.format(kept=kept, body=body))
    assert {d.id for d in result.diagnostics} == {"module-value"}, (result.diagnostics, result.code)


@pytest.mark.parametrize("name", EACH)
def test_each_call_draws_of_its_own(name):
    source = MODULE.format(kept="pass", body=EACH[name])
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    _, module = both_modules(source, result)
    x = jnp.ones((8, 64))
    run = jax.jit(lambda key: module.apply({}, {}, x, key=key, training=True)[0])
    one, other = run(jax.random.key(0))
    for drawn in (one, other):
        assert len(np.unique(drawn)) == 2, result.code
    assert (one != other).any(), result.code
