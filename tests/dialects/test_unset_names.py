"""Names that a turn sets first and that are read after the loop: None before it, or a refusal."""

from pathlib import PurePosixPath

import pytest
import torch

from transpile.command.dialect import convert
from transpile.source.files import Source

from .verified import verify

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        count = 0
        {loop}:
            r = torch.sin(self.fc(x)) + count
            count += 1
            if r.sum() > 10:
                break
        return r
"""


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_it_is_none_before_a_loop_that_is_unrolled(target):
    x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
    verify(NET.format(loop="for i in range(4)"), "Net", "", [x], target)


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_it_is_refused_where_there_may_be_no_turn(target):
    source = Source(PurePosixPath("net.py"), NET.format(loop="while True"), "utf-8", False, "\n")
    (made,), _, _ = convert([source], "", target)
    assert [(d.id, d.line) for d in made.diagnostics] == [("traced-loop", 12)]
    assert "nn.unconverted" in made.code
