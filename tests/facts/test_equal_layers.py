"""Which containers hold modules that are one function of their params."""

import textwrap

import pytest

from transpile import convert_source

HEAD = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n, d):
        super().__init__()
"""
FORWARD = """
    def forward(self, x):
        for layer in {layers}:
            x = layer(x)
        return x
"""
LISTED = "self.a = nn.ModuleList([nn.Linear(d, d) for _ in range(n)])"
LOOPED = "self.a = nn.ModuleList()\nfor i in range(n):\n    self.a.append({})"
# a constructor, what is looped over, and whether all are equal
CONSTRUCTORS = {
    "a comprehension": (LISTED, "self.a", True),
    "in a dict": (
        "self.a = nn.ModuleDict(dict(b=nn.ModuleList([nn.Linear(d, d) for _ in range(n)])))",
        "self.a.b",
        True,
    ),
    "by its name in a dict": (
        'self.a = nn.ModuleDict({"b": nn.ModuleList([nn.Linear(d, d) for _ in range(n)])})',
        'self.a["b"]',
        True,
    ),
    "one by one": (LOOPED.format("nn.Linear(d, d)"), "self.a", True),
    "a list that becomes one": (
        "self.a = []\nfor _ in range(n):\n    self.a.append(nn.Linear(d, d))\nself.a = nn.ModuleList(self.a)",
        "self.a",
        True,
    ),
    "by the turn": (LOOPED.format("nn.Dropout(i / 10)"), "self.a", False),
    "by what a turn sets": (
        "last = False\nself.a = nn.ModuleList()\nfor i in range(n):\n"
        "    self.a.append(nn.Linear(d, d, bias=last))\n    last = True",
        "self.a",
        False,
    ),
    "by a list that empties": (LOOPED.format("nn.Dropout(drops.pop())"), "self.a", False),
    "one more": (LISTED + "\nself.a.append(nn.Linear(d, d, bias=False))", "self.a", False),
    "one put in": (LISTED + "\nself.a[0] = nn.Linear(d, d, bias=False)", "self.a", False),
    "fields that differ": (
        LISTED + "\nfor i, layer in enumerate(self.a):\n    layer.depth = i",
        "self.a",
        False,
    ),
    "a field of one": (LISTED + "\nself.a[0].first = True", "self.a", False),
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_equal_layers_are_scanned(name):
    body, layers, equal = CONSTRUCTORS[name]
    text = HEAD + textwrap.indent(body, " " * 8) + "\n" + FORWARD.format(layers=layers)
    assert ("nn.scan_layers(" in convert_source(text).code) == equal
