"""Arrays that are written in place by local names: params as models are built, and what self keeps as they run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..small_programs import HEAD, load
from .test_initializers import assert_starts_as_in_torch

BUILT = {
    "a param": "w = self.w\nnn.init.constant_(w, 2.0)",
    "without gradient": "w = self.w\nif self.n == 3:\n    with torch.no_grad():\n        w.copy_(torch.ones(w.shape) * 2)",
    "its data, by an index": "w = self.w.data\nw[0] = 5.0",
    "several": "w, c = self.fc.weight, self.fc.bias\nnn.init.constant_(w, 2.0)\nc.data.fill_(1.0)",
    "a view": "v = self.v.data.view(3, 1)\nv[1:].add_(3)",
    "augmented": "w = self.w.data\nw += 1",
    "after a return": "w = self.w\nif self.n == 0:\n    return\nwith torch.no_grad():\n    w.fill_(2.0)",
    "augmented by their paths": "with torch.no_grad():\n    self.fc.bias.copy_(torch.arange(3.0))\n    self.fc.bias += 1\n    self.w -= 1",
    "a loop over some": "for p in [self.w, self.v]:\n    p.data.fill_(2.0)",
    "a loop over the params of a layer": "for p in self.fc.parameters():\n    if p.dim() < 2:\n        continue\n    nn.init.constant_(p, 2.0)",
    "one after the other": "w = self.fc.weight\nnn.init.ones_(w)\nw = self.w\nnn.init.ones_(w)",
    "a view of a view": "v = self.w.data.view(-1)[3:].view(2, 3)\nv[1].add_(3)",
    "a loop over some, twice": "for p in (self.w, self.v):\n    p.data.fill_(2.0)\nfor p in (self.w, self.fc.bias):\n    with torch.no_grad():\n        p.mul_(3).add_(1)",
    "a list of params": "for p in self.ps:\n    p.data.fill_(2.0)",
}
MADE = "self.n = 3\nself.w = nn.Parameter(torch.zeros(3, 3))\nself.v = nn.Parameter(torch.zeros(3))\nself.fc = nn.Linear(3, 3)\nself.ps = nn.ParameterList([nn.Parameter(torch.zeros(3)) for _ in range(2)])\n"


def module(body, method):
    def indented(text):
        return "".join(f"        {line}\n" for line in text.splitlines())

    start = f"{HEAD}class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    return start + (indented(MADE + "self.reset()") + "\n    def reset(self):\n" + indented(body) if method else indented(MADE + body))


@pytest.mark.parametrize("name", BUILT)
def test_in_a_method(name):
    assert_starts_as_in_torch(module(BUILT[name], True))


@pytest.mark.parametrize("name", [name for name, body in BUILT.items() if "return" not in body])
def test_in_a_constructor(name):
    assert_starts_as_in_torch(module(BUILT[name], False))


@pytest.mark.parametrize("lines", [("self.p = p", "nn.init.constant_(p, 2.0)"), ("nn.init.constant_(p, 2.0)", "self.p = p"), ("self.p = p",)])
def test_a_parameter_that_is_made_under_a_local_name(lines):
    source = module("\n".join(["p = nn.Parameter(torch.zeros(4))", *lines]), False)
    assert_starts_as_in_torch(source)
    assert '["p"] = ' in convert_source(source).code


REFUSED = {
    "zipped": "for p, q in zip(self.fc.parameters(), self.ps):\n    p.data.fill_(1.0)",
    "counted": "for i, p in enumerate(self.fc.parameters()):\n    p.data.fill_(1.0)",
    "left halfway": "for p in self.fc.parameters():\n    p.data.fill_(1.0)\n    break",
    "listed": "ps = list(self.fc.parameters())\nps[0].data.fill_(3.0)",
    "the first": "w = next(self.fc.parameters())\nw.data.fill_(3.0)",
    "augmented": "for p, q in zip(self.fc.parameters(), self.ps):\n    p += 1",
    "a comprehension": "[p.data.fill_(1.0) for p in self.parameters()]",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_followed_is_refused(name):
    result = convert_source(module(REFUSED[name], True))
    assert {d.id for d in result.diagnostics} in ({"aliased-write"}, {"parameter-write"}, {"module-walk"}), (result.diagnostics, result.code)
    with pytest.raises(NotImplementedError):
        load(result)["M"]().init(jax.random.key(0))


def test_what_self_keeps_is_written_while_the_model_runs():
    source = f"""{HEAD}class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        count = self.count[:2]
        count.add_(1)
        return x
"""
    scope = {}
    exec(compile(source, "program.py", "exec"), scope)
    torch_module, jax_module = scope["M"](), load(convert_source(source))["M"]()
    params, state = from_torch(torch_module, jax_module)
    torch_module(torch.zeros(3))
    _, state = jax_module.apply(params, state, jnp.zeros(3))
    np.testing.assert_array_equal(state["count"], torch_module.count.numpy())
