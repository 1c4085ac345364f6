"""Plain lists of modules, which something else registers: forward runs the modules by way of the list."""

import jax
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, both_modules

MODULE = HEAD + """
class M(nn.Module):
    def __init__(self, n=4, k=3):
        super().__init__()
{made}

    def forward(self, x):
        for line in self.lines:
            x = line(x)
        for i, line in enumerate(self.lines[:-1]):
            x = line(x) + i
        return x + self.lines[-1](x) + sum(self.lines[i](x) for i in range(len(self.lines)))
"""

MADE = {
    "a list of the list": "self.lines = [nn.Linear(n, n) for _ in range(k)]\nself.net = nn.ModuleList(self.lines)",
    "grown": "self.lines = []\nfor _ in range(k):\n    self.lines.append(nn.Linear(n, n))\nself.net = nn.Sequential(*self.lines)",
    "a local list": "lines = [nn.Linear(n, n) for _ in range(k)]\nself.lines = lines\nself.net = nn.ModuleList(lines)",
    "appended to both": "self.lines, self.net = [], nn.ModuleList()\nfor _ in range(k):\n    line = nn.Linear(n, n)\n    self.lines.append(line)\n    self.net.append(line)",
    "appended in a loop over it": "self.lines = [nn.Linear(n, n), nn.Linear(n, n)]\nself.net = nn.ModuleList()\nfor line in self.lines:\n    self.net.append(line)",
    "extended": "self.lines = [nn.Linear(n, n), nn.Linear(n, n)]\nself.net = nn.ModuleList([])\nself.net.extend(self.lines)",
    "added by names": 'self.lines = [nn.Linear(n, n), nn.Linear(n, n)]\nfor i, line in enumerate(self.lines):\n    self.add_module("line%d" % i, line)',
    "set by names": 'self.lines = []\nfor i in range(k):\n    line = nn.Linear(n, n)\n    setattr(self, f"line{i}", line)\n    self.lines += [line]',
    "beside another": 'self.lines, self.others = [], []\nfor i in range(k):\n    line = nn.Linear(n, n)\n    self.lines.append(line)\n    self.add_module(f"line{i}", line)\nself.net = nn.ModuleList()\nfor i in range(k):\n    line = nn.Linear(n, n)\n    self.others.append(line)\n    self.net.append(line)',
}  # fmt: skip


def _source(made):
    return MODULE.format(made="".join(f"        {line}\n" for line in made.splitlines()))


@pytest.mark.parametrize("name", MADE)
def test_the_modules_of_a_list(name):
    source = _source(MADE[name])
    result = convert_source(source)
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, jax_module = both_modules(source, result)
    params, state = from_torch(torch_module, jax_module)
    assert jax.tree.structure(jax_module.init(jax.random.key(0))) == jax.tree.structure(params), result.code
    x = torch.randn(2, 4)
    got = jax.jit(lambda params, x: jax_module.apply(params, state, x)[0])(params, x.numpy())
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), rtol=1e-4, atol=1e-5, err_msg=result.code)


def test_a_list_that_nothing_registers_is_reported():
    result = convert_source(_source("self.lines = [nn.Linear(n, n) for _ in range(k)]"))
    assert {d.id for d in result.diagnostics} == {"module-value", "frozen-param"}, result.code


FUNCTIONS = {
    "written out": ("", "[self.l, self.post, torch.tanh]"),
    "behind a list": ("self.ls = nn.ModuleList([self.l, nn.Tanh()])", "[*self.ls, self.post, F.relu]"),
}


def _beside_functions(made, over):
    init = f"super().__init__()\nself.l = nn.Linear(4, 4)\nself.post = lambda t: t * 2\n{made}"
    head = HEAD + "import torch.nn.functional as F\n\n\nclass M(nn.Module):\n    def __init__(self):\n"
    head += "".join(f"        {line}\n" for line in init.splitlines())
    return head + f"\n    def forward(self, x):\n        for f in {over}:\n            x = f(x)\n        return x\n"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_beside_modules_are_called_as_such(name):
    source = _beside_functions(*FUNCTIONS[name])
    result = convert_source(source)
    assert "unconverted" not in result.code, result.code
    torch_module, jax_module = both_modules(source, result)
    params, state = from_torch(torch_module, jax_module)
    x = torch.randn(2, 4)
    got, _ = jax.jit(lambda params, x: jax_module.apply(params, state, x))(params, x.numpy())
    np.testing.assert_allclose(got, torch_module(x).detach().numpy(), rtol=1e-4, atol=1e-5, err_msg=result.code)


def test_functions_in_a_kept_list_with_modules_are_refused():
    source = _beside_functions("self.fs = [self.l, torch.tanh]", "self.fs")
    result = convert_source(source)
    assert "module-value" in {d.id for d in result.diagnostics}, result.code
    _, jax_module = both_modules(source, result)
    with pytest.raises(NotImplementedError, match="module-value"):
        jax_module.apply(jax_module.init(jax.random.key(0)), {}, np.ones((2, 4)))
