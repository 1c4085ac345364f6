"""Methods that fill a module for its constructor, and that others call as well: the model is built, and what else calls
them is told where a module that has been built cannot be filled."""

import pytest
import torch

from .small import HEAD, TARGETS
from .verified import verify

RESET = """
class Conv(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n, n))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.constant_(self.weight, 0.3)

    def forward(self, x):
        return x @ self.weight


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([Conv(4), Conv(4)])

    def reset_parameters(self):
        for conv in self.convs:
            conv.reset_parameters()

    def forward(self, x):
        for conv in self.convs:
            x = conv(x)
        return x
"""
LAYERS = """
class Conv(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n, n))
        self.lin = nn.Linear(n, n)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.constant_(self.weight, 0.3)
        self._reset_layers()

    def _reset_layers(self):
        self.lin.reset_parameters()

    def forward(self, x):
        return self.lin(x @ self.weight)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = Conv(4)

    def reset_parameters(self):
        self.conv.reset_parameters()

    def forward(self, x):
        return self.conv(x)
"""
DROPOUT = """
class Cell(nn.Module):
    def __init__(self, n, p=0.0):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.set_dropout(p)

    def set_dropout(self, p):
        self.p = p
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return self.drop(self.fc(x)) * (1 + self.p)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = Cell(4)

    def set_dropout(self, p):
        self.cell.set_dropout(p)

    def forward(self, x):
        return self.cell(x)
"""
TOLD = {
    (RESET, "functional"): ["parameter-write"],
    (RESET, "equinox"): ["parameter-write"],
    (LAYERS, "functional"): ["unsupported"],
    (LAYERS, "flax"): ["unsupported"],
    (LAYERS, "equinox"): ["unsupported"],
    (DROPOUT, "equinox"): ["parameter-write"],
}
ROWS = [(s, t) for s in (RESET, LAYERS, DROPOUT) for t in TARGETS]


@pytest.mark.parametrize("source, target", ROWS, ids=[f"{n}-{t}" for n in ("reset", "layers", "dropout") for t in TARGETS])
def test_a_method_that_fills_is_the_constructors(source, target):
    x = torch.randn(3, 4, dtype=torch.float64)
    verify(HEAD + source.lstrip(), "Net", "", [x], target, told=TOLD.get((source, target), ()))
