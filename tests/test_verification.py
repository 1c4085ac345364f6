"""verify: what the two sides are given, and how near they have to be."""

import torch

import transpile
from transpile import convert_source

from .small_programs import HEAD, both_modules


def report_of(source, *inputs, changed=("", "")):
    """What verify says of the M of a source and of what it is converted to, where something in it may be another."""
    return transpile.verify(*both_modules(HEAD + source, convert_source(HEAD + source.replace(*changed))), *inputs)


FLOAT32 = "class M(nn.Module):\n    def forward(self, x):\n        angles = 10000 ** (torch.arange(8, dtype=torch.float32) / 8)\n        return (x.float()[:, None] / angles).sin().cumsum(1)\n"
BATCH = "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 4)\n\n    def forward(self, batch):\n        x, (y, z) = batch['x'], batch['more']\n        return self.fc(x * y + z)\n"


def test_what_is_float32_by_itself_is_held_to_float32():
    x = torch.linspace(1, 9, 50)
    assert report_of(FLOAT32, x).ok
    assert not report_of(FLOAT32, x, changed=("10000", "10001")).ok


def test_arrays_in_dicts_and_lists():
    batch = {"x": torch.randn(2, 3), "more": [torch.randn(2, 3), torch.randn(3)]}
    assert report_of(BATCH, batch).ok
    assert not report_of(BATCH, batch, changed=("x * y", "x * y * 1.0001")).ok
