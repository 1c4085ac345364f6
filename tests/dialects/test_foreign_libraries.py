"""Libraries built on torch: what has a name of torch's or a rule is converted, the rest is reported
and stands as it was."""

from pathlib import PurePosixPath

import pytest

from transpile.command.dialect import convert
from transpile.model.libraries import canonical
from transpile.source.files import Source

NAMES = {
    "timm.layers.DropPath": "timm.layers.DropPath",
    "timm.models.layers.DropPath": "timm.layers.DropPath",
    "timm.models.layers.drop.DropPath": "timm.layers.DropPath",
    "timm.layers.trunc_normal_": "torch.nn.init.trunc_normal_",
    "timm.models.layers.Mlp": "timm.models.layers.Mlp",
    "timm.create_model": "timm.create_model",
    "pytorch_lightning.LightningModule": "torch.nn.Module",
    "pytorch_lightning.core.lightning.LightningModule": "torch.nn.Module",
    "lightning.pytorch.LightningModule": "torch.nn.Module",
    "lightning.LightningDataModule": "lightning.LightningDataModule",
    "numpy.exp": "numpy.exp",
}


@pytest.mark.parametrize("name", NAMES)
def test_canonical(name):
    assert canonical(name) == NAMES[name]


def converted(text, target="flax"):
    source = Source(PurePosixPath("net.py"), text, "utf-8", False, "\n")
    (written,), _, failed = convert([source], "", target)
    assert not failed
    return written


VISION = """\
import pytorch_lightning as pl
import timm.models.layers as layers
from timm.models.registry import register_model
from torch import nn
from timm.models.layers import DropPath, trunc_normal_


class Block(pl.LightningModule):
    def __init__(self, dim):
        super().__init__()
        self.size = layers.to_2tuple(dim)
        self.proj = nn.Parameter(nn.init.zeros_(nn.Parameter(nn.Linear(dim, dim).weight.data)))
        trunc_normal_(self.proj, std=0.02)
        self.drop = DropPath(0.1)

    def forward(self, x):
        return x + self.drop(x @ self.proj)


@register_model
def tiny():
    return Block(4)
"""


@pytest.mark.parametrize("target", ["flax", "equinox"])
def test_names_that_torch_has_are_torchs(target):
    made = converted(VISION, target)
    assert not made.diagnostics
    assert not any(word in made.code for word in ("timm", "lightning", "register_model"))
    assert "self.drop = nn.DropPath(0.1" in made.code


REPORTED = {
    "a function": ("nms(x, x, 0.5)", "no-rule", "torchvision.ops.nms is built on torch"),
    "a model": ("torchvision.models.resnet18()(x)", "no-rule", "torchvision.models.resnet18"),
    "the numbers of an array": ("solve(x)", "unsupported", "computes with the numbers"),
}


@pytest.mark.parametrize("case", REPORTED)
def test_the_rest_is_reported(case):
    call, id, message = REPORTED[case]
    made = converted(
        "import torchvision\nfrom scipy.optimize import linear_sum_assignment as solve\nimport torch\n"
        "from torchvision.ops import nms\n\n\nclass Net(torch.nn.Module):\n"
        f"    def forward(self, x):\n        x = torch.relu(x)\n        return {call}\n"
    )
    (found,) = made.diagnostics
    assert (found.id, found.line) == (id, 10) and message in found.message
    assert call in made.code


@pytest.mark.parametrize("word", ["__version__", "models.ResNet50_Weights.DEFAULT"])
def test_what_computes_nothing_is_left(word):
    made = converted(
        f"import torchvision\nimport torch\n\nx = torch.ones(3)\ny = torchvision.{word}\n"
    )
    assert not made.diagnostics and f"torchvision.{word}" in made.code
