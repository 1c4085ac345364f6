"""What constructors build by functions that are given where classes are: what they make is known,
and they are called as what they are; and what is built by numbers that are at hand."""

import pytest
import torch

from transpile import convert_source

from .small import HEAD, TARGETS
from .verified import verify

CLASSES = """
class Mlp(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.l = nn.Linear(d, d)

    def forward(self, x):
        return self.l(x)


class Block(nn.Module):
    def __init__(self, d, layer=Mlp):
        super().__init__()
        self.mlp = layer(d)

    def forward(self, x):
        return x + self.mlp(x)


"""
LOCAL = """
class Net(nn.Module):
    def __init__(self, d, kind):
        super().__init__()
        if kind == "mlp":
            layer = Mlp
        elif kind == "none":
            def layer(d):
                return nn.Identity()
        else:
            def layer(d):
                return nn.Linear(d, d)
        self.blocks = nn.ModuleList([Block(d, layer) for _ in range(2)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
"""
CHOSEN = """
def choose(kind):
    if kind == "mlp":
        layer = Mlp
    elif kind == "none":
        def layer(d):
            return nn.Identity()
    else:
        layer = lambda d: nn.Linear(d, d)
    return layer


class Net(nn.Module):
    def __init__(self, d, kind):
        super().__init__()
        self.block = Block(d, choose(kind))

    def forward(self, x):
        return self.block(x)
"""
BY_NAME = """
def linear(d):
    return nn.Sequential(nn.Linear(d, d), nn.Dropout(0.0))


def scaled(d):
    return lambda x: x * d


class Net(nn.Module):
    def __init__(self, d, kind):
        super().__init__()
        make = linear if kind == "linear" else Mlp
        self.block = make(d)
        plain = scaled if kind == "none" else Mlp
        self.scale = plain(d)

    def forward(self, x):
        return self.scale(self.block(x))
"""
PROGRAMS = {"local": LOCAL, "chosen": CHOSEN, "by name": BY_NAME}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", ["mlp", "none", "linear"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_functions_make(name, kind, target):
    source = HEAD + CLASSES + PROGRAMS[name]
    verify(source, "Net", f"4, {kind!r}", [torch.randn(3, 4, dtype=torch.float64)], target)


@pytest.mark.parametrize("target", ["functional", "equinox"])
def test_what_is_made_holds_no_state(target):
    code = convert_source(HEAD + CLASSES + LOCAL, target=target).code
    assert "state" not in code, code


BY_NUMBERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        scale = torch.ones(1) * 2
        if scale > 1:
            self.l = nn.Linear(4, 4)
        else:
            self.l = nn.Identity()

    def forward(self, x):
        return self.l(x)
"""


@pytest.mark.parametrize("target", TARGETS)
def test_what_numbers_decide(target):
    verify(HEAD + BY_NUMBERS, "Net", "", [torch.randn(3, 4, dtype=torch.float64)], target)
