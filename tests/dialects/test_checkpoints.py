"""What a checkpoint runs again is given flags and sizes as they are, and arrays."""

import pytest
import torch

from transpile import convert_source

from .small import HEAD, TARGETS
from .verified import verify

PARTS = """
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.layer = layer

    def forward(self, x, mask=None, flip=False, n=1):
        if flip:
            x = x.flip(0)
        for _ in range(n):
            x = self.layer(self.fc(x))
        return x


def chunk(x, causal, places):
    a, b = places
    if causal and a < b:
        return x.sin() * 2
    return x


def run(f, *args):
    return checkpoint(f, *args, use_reentrant=False)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.causal = True
        self.plain = Block(nn.Tanh())
        self.drawing = Block(nn.Dropout(0.0))

    def forward(self, x):
"""
CALLS = {
    "a function": "checkpoint(chunk, x, self.causal, (1, 2), use_reentrant=False)",
    "a module": "checkpoint(self.plain, x, None, True, 2, use_reentrant=False)",
    "a module that draws": "checkpoint(self.drawing, x, None, True, 2, use_reentrant=False)",
    "all that it gets": "run(chunk, x, self.causal, (1, 2))",
    "a lambda": "checkpoint(lambda t, n: t.sin() * len(range(n)), x, 3, use_reentrant=False)",
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CALLS)
def test_flags_beside_arrays(name, target):
    source = f"{HEAD}{PARTS}        return {CALLS[name]}\n"
    verify(source, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)


def test_arrays_alone_are_jaxs_own():
    parts = PARTS.replace("checkpoint(f, *args, ", "f(*args, ")
    source = f"{HEAD}{parts}        return checkpoint(self.plain, x, use_reentrant=False)\n"
    assert "nn.checkpointed" not in convert_source(source).code
