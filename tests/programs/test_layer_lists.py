"""Local lists of layers, in another order or in part: each layer is called with its own params."""

import jax.numpy as jnp
import pytest
import torch

from transpile import convert_source, from_torch

from ..dialects.verified import verify
from ..proof.comparison import assert_close
from ..small_programs import HEAD, both_modules

MODULES = """def same(layers):
    return layers


def some_of(layers, p):
    if p == 0:
        return layers
    kept = [i % 3 != p for i in range(len(layers))]
    if not any(kept):
        kept[0] = True
    layers = [layer for layer, keep in zip(layers, kept) if keep]
    return layers


def last_of(layers, first=0):
    count = len(layers) - first
    return [layer for i, layer in enumerate(layers) if i >= count - 2] + layers[:1]


def first_called(layers, x):
    layers[0](x)
    return layers


def with_weights(layers):
    return [layer for layer in layers if hasattr(layer, "w")]


class Flow(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.w = nn.Parameter(torch.tensor(k))

    def forward(self, x):
        return x * self.w + 1, self.w


class Other(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.v = nn.Parameter(torch.tensor(k))

    def forward(self, x):
        return x + self.v, self.v


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.flows = nn.ModuleList()
        for i in range(3):
            self.flows.append(Flow(i + 2.0))
            self.flows.append(Other(i + 0.5))
        self.others = nn.ModuleList([Flow(1.5)])

    def forward(self, x, reverse=False):
"""
# name -> body of the forward of M
PROGRAMS = {
    "there and back": "flows = self.flows\nfor flow in flows:\n    x, w = flow(x)\nflows = list(reversed(self.flows))\nfor flow in flows:\n    x, w = flow(x)\nreturn x",
    "one way or the other": "if not reverse:\n    flows = self.flows\n    for flow in flows:\n        x, w = flow(x)\n    return x\nelse:\n    flows = list(reversed(self.flows))\n    flows = flows[:-2] + [flows[-1]]\n    for flow in flows:\n        x, w = flow(x)\n    return x",
    "chosen": "flows = self.flows if not reverse else reversed(self.flows)\nfor flow in flows:\n    x, w = flow(x)\nreturn x",
    "chosen in the loop": "for i, flow in enumerate(self.flows if reverse else self.flows[::-1]):\n    x, w = flow(x + i)\nreturn x",
    "turned around": "flows = self.flows\nif reverse:\n    flows = reversed(flows)\nfor flow in flows:\n    x, w = flow(x)\nreturn x",
    "some": "flows = list(self.flows)\nfor flow in [self.flows[0], self.flows[3]]:\n    x, w = flow(x)\nfor flow, y in zip(flows[1:3], (1, 2)):\n    x, w = flow(x * y)\nreturn x / len(flows)",
    "given back": "for flow in same(self.flows):\n    x, w = flow(x)\nflows = same(self.flows[1:])\nfor i, flow in enumerate(flows):\n    x, w = flow(x * i)\nreturn x",
    "chosen by a function": "flows = some_of(self.flows, 1 if reverse else 0)\nfor flow in flows:\n    x, w = flow(x)\nfor flow in some_of(layers=self.flows, p=2):\n    x, w = flow(x)\nreturn x * len(flows)",
    "chosen by two functions": "flows = reversed(last_of(some_of(self.flows, 2), first=1))\nfor flow in flows:\n    x, w = flow(x)\nreturn x",
    "a name given back": "flows = self.flows[::2]\nif reverse:\n    flows = same(flows)\nothers = same(some_of(flows, 2))\nfor flow in others:\n    x, w = flow(x)\nreturn x",
    "a comprehension": "flows = self.flows[::2]\nflows = flows + self.flows[1:2]\nreturn sum(flow(x)[0] for flow in flows)",
    "sorted": "for flow in self.flows:\n    x, w = flow(x)\nfor flow in sorted(self.flows, key=lambda flow: isinstance(flow, Flow)):\n    x, w = flow(x)\nreturn x",
    "shortened": "flows = list(self.flows)\nflows.pop()\nfor flow in flows:\n    x, w = flow(x)\nreturn x",
}


def written(body):
    return HEAD + MODULES + "".join(f"        {line}\n" for line in body.splitlines())


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_layer_has_its_params(name):
    result = convert_source(written(PROGRAMS[name]))
    assert not result.diagnostics, (result.diagnostics, result.code)
    torch_module, module = both_modules(written(PROGRAMS[name]), result)
    params, _ = from_torch(torch_module, module)
    x = torch.randn(3)
    for reverse in (False, True):
        got = module(params, jnp.asarray(x.numpy()), reverse=reverse)
        assert_close(got, torch_module(x, reverse).detach().numpy(), err_msg=result.code)


REFUSED = {
    "of two containers": "flows = self.flows if reverse else reversed(self.others)\nfor flow in flows:\n    x, w = flow(x)\nreturn x",
    "called by a function": "for flow in first_called(self.flows, x):\n    x, w = flow(x)\nreturn x",
    "chosen by what they are": "for flow in with_weights(self.flows):\n    x, w = flow(x)\nreturn x",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_followed_is_refused(name):
    result = convert_source(written(REFUSED[name]))
    assert "module-value" in {d.id for d in result.diagnostics}, result.code


FILLED = """
class Layers(nn.ModuleList):
    def __init__(self):
        super().__init__()
        self += [nn.Linear(4, 4), nn.Tanh()]
        self[0] = nn.Linear(4, 4, bias=False)

    def forward(self, x):
        for layer in self:
            x = layer(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = Layers()
        self.layers.append(nn.Linear(4, 4))
        self.layers += [nn.Tanh(), nn.Linear(4, 4)]
        self.layers.extend([nn.Tanh()])
        self.layers[2] = nn.Linear(4, 4, bias=False)

    def forward(self, x):
        return self.layers(x)
"""


@pytest.mark.parametrize("target", ["functional", "flax", "equinox"])
def test_a_list_of_a_class_of_its_own_is_filled(target):
    verify(HEAD + FILLED, "Net", "", [torch.rand(3, 4, dtype=torch.float64)], target)
