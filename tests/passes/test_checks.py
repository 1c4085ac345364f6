"""What only reports: tests by Python of numbers that a model changes, errors that JAX has not."""

import pytest

import transpile

NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hits, self.last, self.size = 0, None, 3

    def forward(self, x):
        {line}
        return x
"""
TOLD = {
    "self.hits += 1; x = x + 1 if self.hits > 3 else x": 0,  # it is an array, by which JAX decides
    "self.hits += x.shape[0]; self.hits = 0 if x.shape[1] > 2 else 1; x = x if self.hits else -x": 0,
    "self.hits = x.shape[0] if self.hits else 1": 1,  # a size stays one
    "self.hits = self.hits + 1; assert self.hits": 0,  # Python asks nothing more of it
    "x = x + 1 if self.size > 2 else x": 0,  # nothing changes it
    "self.last = x if self.last is None else x": 0,  # whether there is one is known
    "self.last = x if self.last is None or self.last.dtype != x.dtype else x": 0,  # as is its type
}


@pytest.mark.parametrize("line", TOLD)
def test_numbers_that_a_model_changes(line):
    source = NET.format(line="\n        ".join(line.split("; ")))
    told = [d for d in transpile.convert_source(source, "flax").diagnostics if "changed" in d.message]
    assert len(told) == TOLD[line]


TRIED = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4, bias={bias})])
        for m in self.layers:
            try:
                m.bias.data.zero_()
            except {error}:
                pass

    def forward(self, x):
        return self.layers[1](self.layers[0](x))
"""


@pytest.mark.parametrize(
    "bias, error, lines",
    [("False", "AttributeError", [12]), ("True", "AttributeError", []), ("False", "Exception", [])],
)
def test_what_none_has_not_is_another_error(bias, error, lines):
    source = TRIED.format(bias=bias, error=error)
    assert [d.line for d in transpile.convert_source(source, "flax").diagnostics] == lines
