"""An attribute that is a module on one way through a constructor, and a param on another."""

import ast

import pytest
import torch

from transpile.command import engine

from .verified import given, verify

PROGRAM = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, biased=False):
        super().__init__()
        if biased:
            self.proj = nn.Linear(4, 4)
        else:
            self.proj = nn.Parameter(torch.empty(4, 4))
        self.reset()

    def reset(self):
        if isinstance(self.proj, nn.Linear):
            nn.init.normal_(self.proj.weight, std=0.1)
        else:
            nn.init.normal_(self.proj, std=0.1)

    def forward(self, x):
        return self.proj(x) if isinstance(self.proj, nn.Linear) else x @ self.proj
"""


@pytest.mark.parametrize(("target", "line"), [("functional", 12), ("flax", 19)])
def test_the_array_is_reported(target, line):
    (made,), _, _ = engine.convert([given(PROGRAM)], "", target)
    assert ("module-value", line) in {(d.id, d.line) for d in made.diagnostics}


@pytest.mark.parametrize("biased", ["", "True"])
def test_a_tree_has_either(biased):
    verify(PROGRAM, "Net", biased, [torch.randn(3, 4, dtype=torch.float64)], "equinox")


LISTED = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, learned, scales):
        super().__init__()
        if learned:
            self.scales = nn.ParameterList([nn.Parameter(s) for s in scales])
        else:
            self.scales = scales

    def swap(self, i, w):
        self.scales[i] = w

    def renew(self, made):
        self.count, self.scales = made

    def forward(self, x):
        return x * self.scales[0] + sum(s for s in self.scales)
"""


def test_a_list_that_params_may_have_is_stored_into():
    (made,), _, _ = engine.convert([given(LISTED)], "", "functional")
    assert [(d.id, d.line) for d in made.diagnostics] == [("module-value", 15), ("module-value", 18)]
    ast.parse(made.code)
