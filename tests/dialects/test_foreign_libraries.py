"""Libraries built on torch: what has a name of torch's or a rule is converted, the rest is reported
and stands as it was."""

import copy
import functools
from pathlib import PurePosixPath

import pytest

from transpile.command.engine import convert
from transpile.dialects.support.definitions import PRELUDES
from transpile.model.libraries import canonical
from transpile.source.files import Source

NAMES = {
    "timm.layers.DropPath": "timm.layers.DropPath",
    "timm.models.layers.DropPath": "timm.layers.DropPath",
    "timm.models.layers.drop.DropPath": "timm.layers.DropPath",
    "timm.layers.trunc_normal_": "torch.nn.init.trunc_normal_",
    "timm.models.layers.Mlp": "timm.layers.Mlp",
    "timm.models.vision_transformer.Mlp": "timm.layers.Mlp",
    "timm.models.vision_transformer.Block": "timm.models.vision_transformer.Block",
    "timm.models.vision_transformer.VisionTransformer": "timm.models.vision_transformer.VisionTransformer",
    "timm.models.layers.SqueezeExcite": "timm.models.layers.SqueezeExcite",
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


@pytest.mark.parametrize("target", ["flax", "equinox", "functional"])
def test_a_library_cannot_build_from_layers_of_here(target):
    """What it builds from numbers alone is left, and can be asked for what it says of itself."""
    made = converted(
        "from timm.models.swin_transformer import Block, PatchEmbed\nfrom torch import nn\n\n\n"
        "@register(Block)\nclass Net(nn.Module):\n    def __init__(self, norm=nn.LayerNorm):\n"
        "        super().__init__()\n        self.embed = PatchEmbed(16, 4, 3, 8)\n"
        "        self.n = self.embed.num_patches\n        self.block = Block(8, 2, norm_layer=norm)\n"
        "\n    def forward(self, x):\n        return self.block(self.embed(x))\n",
        target,
    )
    assert [(d.id, d.line) for d in made.diagnostics if d.line > 8] == [("no-rule", 9), ("no-rule", 11)]
    assert 'nn.unconverted("no-rule", "Block(8, 2, norm_layer=norm)")' in made.code
    assert "PatchEmbed(16, 4, 3, 8)" in made.code


@pytest.mark.parametrize("target", ["flax", "equinox", "functional"])
def test_what_a_library_built_is_called_as_it_is(target):
    """It is a module of torch's: neither params nor a state or a key are its."""
    made = converted(
        "from torch import nn\nfrom tutel import moe\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.layer = moe.moe_layer(8)\n\n"
        "    def forward(self, x):\n        return self.layer(x)\n",
        target,
    )
    (found,) = made.diagnostics
    assert (found.id, found.line) == ("no-rule", 8)
    assert "return self.layer(x)" in made.code and "state" not in made.code


PARALLEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        return self.norm(x)


def step(model, x):
    return model(x)


def main(xs, gpus):
    model = Net()
    if gpus > 1:
        model = nn.DataParallel(model)
    for x in xs:
        step(model, x)
"""


def test_a_model_is_called_as_it_is_where_a_branch_that_is_refused_wraps_it():
    made = converted(PARALLEL, "equinox")
    (found,) = made.diagnostics
    assert (found.id, found.line) == ("no-rule", 20)
    assert "return model(x, state)" in made.code and "step(model, x, state)" in made.code


def test_what_stands_for_a_module_is_asked_for_what_it_has():
    scope = {}
    for name in ("module", "prelude"):
        exec((PRELUDES / "functional" / f"{name}.py").read_text(), scope)
    as_module, Function = scope["as_module"], scope["Function"]
    held = copy.deepcopy(as_module(functools.partial(int, base=2)))
    assert isinstance(held, Function) and held.keywords == {"base": 2} and held("11") == 3


TRIED = """try:
    from xformers.ops import attend

    THERE = True
except ImportError:
    THERE = False


def f(x):
    return attend(x)
"""


def test_what_is_not_there_raises_where_it_is_used_and_not_at_import():
    made = converted(TRIED)
    assert [(d.id, d.line) for d in made.diagnostics] == [("no-rule", 10)]
    assert "import" not in made.code.replace("import jax_nn as nn", ""), made.code
    assert 'return nn.unconverted("no-rule", "attend(x)")' in made.code


def test_what_two_trials_would_have_brought_raises_once():
    again = TRIED.replace("THERE", "HERE").partition("\n\ndef f")[0]
    made = converted(f"{again}\n\n{TRIED}")
    assert "internal-error" not in {d.id for d in made.diagnostics}
    assert 'return nn.unconverted("no-rule", "attend(x)")' in made.code


LAYER = """import torch.nn as nn
from reformer_pytorch import LSHSelfAttention


class Net(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.attn = LSHSelfAttention(dim=d)
        self.l = nn.Linear(d, d)

    def forward(self, x):
        return self.l(self.attn(x))
"""


def test_a_layer_of_such_a_library_is_told_and_asked_for_nothing():
    made = converted(LAYER, "functional")
    assert [(d.id, d.line) for d in made.diagnostics] == [("no-rule", 8)]
    assert "def __call__(self, params, x):" in made.code, made.code
