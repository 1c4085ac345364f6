"""A param that a function is given and makes that of another layer: torch trains one array, and here there would be two,
so that it is refused. A copy of the values is none."""

import pytest
import torch

from transpile.command import engine

from .small import HEAD, TARGETS
from .verified import given, verify

NET = """class Head(nn.Module):
    def __init__(self, weights=None):
        super().__init__()
        self.decoder = nn.Linear(4, 7, bias=False)
{keeps}

    def tie(self, weights):
        self.decoder.weight = weights

    def begin(self, weights):
        self.decoder.weight.data.copy_(weights)

    def forward(self, x):
        return self.decoder(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(7, 4)
        self.head = {head}
{ties}

    def forward(self, x):
        return self.head(x)
"""
TIES = {
    "a method of the other's": ("", "Head()", "self.head.tie(self.emb.weight)"),
    "a second name": ("w = weights\n        self.decoder.weight = w", "Head(self.emb.weight)", ""),
}


def net(keeps, head, ties):
    indented = (f"        {text}" if text else "" for text in (keeps, ties))
    return HEAD + NET.format(keeps=next(indented), head=head, ties=next(indented))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", TIES)
def test_what_a_call_ties_is_refused(name, target):
    (made,), *_ = engine.convert([given(net(*TIES[name]))], "", target)
    assert {d.id for d in made.diagnostics} & {"tied-weight", "array-while-building"}, made.code


@pytest.mark.parametrize("target", TARGETS)
def test_what_a_call_copies_is_not(target):
    x = torch.randn(3, 4, dtype=torch.float64)
    source = net("", "Head()", "self.head.begin(self.emb.weight)")
    unused = "    def tie(self, weights):\n        self.decoder.weight = weights\n\n"
    verify(source.replace(unused, ""), "Net", "", [x], target)
