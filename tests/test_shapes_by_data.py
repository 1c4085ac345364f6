"""What follows in size from data cannot be under jit: it is reported where a forward pass asks for it, and stays as it is outside."""

import pytest

from transpile import convert_source

from .small_programs import HEAD

READS = {
    "unique": "torch.unique(x)",
    "unique of each": "[torch.unique(t, sorted=True) for t in torch.unbind(x)]",
    "nonzero": "x.nonzero(as_tuple=True)",
    "places": "torch.where(x > 0)[0]",
    "argwhere": "torch.argwhere(x)",
    "masked_select": "x.masked_select(x > 0)",
    "bincount": "torch.bincount(x.flatten().long())",
    "mask": "x[x > 0]",
    "mask of rows": "x[x.sum(1) > 0, 1:].mean()",
}
WRITES = {
    "a number": "x[x > 0] = 1.0",
    "added": "x[x > 0] += 1.0",
    "by the same mask": "m = x > 0\nx[m] = y[m]",
    "filled": "x = x.masked_fill(x > 0, 1.0)",
    "chosen": "x = torch.where(x > 0, x, y)",
    "by places": "x = x[y.long()[0]]",
}
MODULE = HEAD + "class M(nn.Module):\n    def forward(self, x, y):\n        x = x.clone()\n{lines}        return {value}\n"


def diagnostics(lines, value):
    return [d.id for d in convert_source(MODULE.format(lines="".join(f"        {line}\n" for line in lines.splitlines()), value=value)).diagnostics]


@pytest.mark.parametrize("name", READS)
def test_in_a_forward_pass(name):
    assert diagnostics("", READS[name]) == ["data-dependent-shape"]


@pytest.mark.parametrize("name", WRITES)
def test_writes_by_masks_are_none(name):
    assert not diagnostics(WRITES[name], "x")


def test_in_a_helper():
    source = HEAD + "def some(x):\n    return x[x > 0]\n\n\nclass M(nn.Module):\n    def forward(self, x):\n        return some(x).sum()\n"
    assert [d.id for d in convert_source(source).diagnostics] == ["data-dependent-shape"]


@pytest.mark.parametrize("name", READS)
def test_outside_of_a_forward_pass(name):
    assert not convert_source(HEAD + f"def f(x):\n    return {READS[name]}\n").diagnostics
