"""Dicts come through jax.jit and lax.cond sorted by their keys: what goes by their order is reported, and a ParameterDict has torch's."""

from functools import partial

import pytest

from transpile import convert_source

from ..small_programs import HEAD, compare_twice

MODULE = """class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterDict({"z": nn.Parameter(torch.randn(3)), "b": nn.Parameter(torch.randn(3))})
        self.shifts = nn.ParameterList([nn.Parameter(torch.randn(3)) for _ in range(2)])
        self.heads = nn.ModuleDict({"z": nn.Linear(3, 3), "b": nn.Linear(3, 3)})
        self.sums = {"z": torch.zeros(3), "b": torch.zeros(3)}

    def both(self, x):
        if x.sum() > 0:
            return {"z": x, "b": x * 2}
        return {"z": x * 3, "b": x}

    def fold(self, x, values):
        for v in values:
            x = x * 2 + v
        return x

    def kept(self, d):
        return {k: v * 2 for k, v in d.items()}

    def forward(self, x, others=None):
"""
EQUAL = {
    "params of a dict": "return self.fold(x, self.scales.values()) + self.fold(x, [v for k, v in self.scales.items()])",
    "params of a dict in loops": "for k, w in self.scales.items():\n    x = x * 2 + w\nfor w in self.scales.values():\n    x = x * 2 + w\nfor k in self.scales:\n    x = x * 2 + self.scales[k]\nreturn x",
    "params of a list": "return x + torch.stack(list(self.shifts))[0] * 2 + sum(self.shifts) + len(self.shifts)",
    "modules": "for k, h in self.heads.items():\n    x = x * 2 + h(x)\nreturn x",
    "a local dict": "d = {'z': x, 'b': x * 2}\nreturn self.fold(x, d.values())",
    "a local dict, and a branch on data": "d = {'z': x, 'b': x * 2}\nif x.sum() > -100:\n    d['z'] = x * 3\nreturn d['z'] + d['b'] + sum(d.values())",
    "stores in dicts of dicts": "d = {'z': {'b': x}, 'b': {'z': x * 2}}\nif x.sum() > -100:\n    d['b']['z'] = x\nfor k, inner in d.items():\n    for j, v in inner.items():\n        inner[j] = v + 1\nreturn d['z']['b'] + d['b']['z']",
    "an entry is set": "self.sums['b'] = self.sums['b'] + x.detach().sum(0)\nreturn x + self.sums['b']",
    "an entry is written in place": "self.sums['b'].add_(x.detach().sum(0))\nreturn x + self.sums['b']",
    "dicts from dicts": "self.sums = {k: v + x.detach().sum(0) for k, v in self.sums.items()}\nfor k in self.sums:\n    self.sums[k] = self.sums[k] * 2\nreturn x + self.sums['z'] - self.sums['b'] + sum(self.sums.values())",
}
REPORTED = {
    "an argument": "for k, v in others.items():\n    x = x * 2 + v\nreturn x",
    "a list of an argument": "return x + torch.cat(list(others.values())) + torch.cat([*others.values()])",
    "a dict in the state": "self.sums['b'] = self.sums['b'] + x.detach().sum(0)\nfor v in self.sums.values():\n    x = x * 2 + v\nreturn x",
    "through a branch": "d = {'z': x, 'b': x * 2}\nif x.sum() > -100:\n    d['z'] = x * 3\nfor v in d.values():\n    x = x * 2 + v\nreturn x",
    "made in a branch": "if x.sum() > -100:\n    d = {'z': x, 'b': x * 2}\nelse:\n    d = {'z': x * 2, 'b': x}\nreturn self.fold(x, list(d.values()))",
    "given back by a branch": "for v in self.both(x).values():\n    x = x * 2 + v\nreturn x",
    "an entry is set on one side": "if x.sum() > 0:\n    self.sums['b'] = self.sums['b'] + x.detach().sum(0)\nreturn x + self.sums['b']",
    "through a loop": "d = {'z': x, 'b': x * 2}\nwhile d['z'].abs().sum() < 100:\n    d['z'] = d['z'] * 2\nfor v in d.values():\n    x = x * 2 + v\nreturn x",
    "checkpointed": "import torch.utils.checkpoint as cp\nreturn cp.checkpoint(self.kept, {'z': x, 'b': x}, use_reentrant=False)",
}


def _source(body):
    source = HEAD + MODULE + "".join(f"        {line}\n" for line in body.splitlines())
    return source if "both(" in body else source[: source.index("    def both")] + source[source.index("    def fold") :]


@pytest.mark.parametrize("name", EQUAL)
def test_equal(name):
    compare_twice(_source(EQUAL[name]), lambda module: partial(module.apply, training=True))


@pytest.mark.parametrize("name", REPORTED)
def test_reported(name):
    found = {d.id for d in convert_source(_source(REPORTED[name])).diagnostics}
    assert found & {"taken-for-granted", "traced-branch", "traced-loop"}, found
