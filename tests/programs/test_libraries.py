"""Names that libraries built on torch have for what torch has, Lightning's classes, and what is reported of the rest."""

import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from transpile import convert_source, from_torch

from ..proof.comparison import assert_close
from ..small_programs import HEAD, both_modules, load

CONSTRUCTOR = '    def __init__(self, n=3):\n        super().__init__()\n        self.fc = nn.Linear(n, n)\n        self.drop = {drop}\n        {init}\n\n    def forward(self, x):\n        return x + self.drop(self.fc(x))\n'
SPELLINGS = {
    "as layers": ("from timm.models.layers import DropPath, trunc_normal_\n", "DropPath(0.25)", "trunc_normal_(self.fc.weight, std=0.5)"),
    "where they stand now": ("from timm.layers import DropPath, trunc_normal_ as init_\n", "DropPath(0.25)", "init_(self.fc.weight, std=0.5)"),
    "in their own files": ("from timm.models.layers.drop import DropPath\nfrom timm.models.layers.weight_init import trunc_normal_\n", "DropPath(0.25)", "trunc_normal_(self.fc.weight, std=0.5)"),
    "by the library's name": ("import timm\nimport timm.layers\n", "timm.layers.DropPath(0.25)", "timm.layers.trunc_normal_(self.fc.weight, std=0.5)"),
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_layers_of_timm(name):
    imports, drop, init = SPELLINGS[name]
    result = convert_source(imports + HEAD + "class M(nn.Module):\n" + CONSTRUCTOR.format(drop=drop, init=init))
    assert not result.diagnostics and "timm" not in result.code, (result.diagnostics, result.code)
    module = load(result)["M"]()
    params, x, key = module.init(jax.random.key(0)), jnp.arange(1.0, 3001.0).reshape(1000, 3), jax.random.key(1)
    assert np.abs(params["fc"]["weight"]).max() > 1 / 3**0.5  # where a Linear's own end
    branch = module(params, x) - x
    rest = (module(params, x, key=key, training=True) - x) / branch
    kept = np.isclose(rest, 1 / 0.75, rtol=1e-3).all(1)
    assert (kept | (rest == 0).all(1)).all() and 0.7 < kept.mean() < 0.8  # whole samples, three of four


@pytest.mark.parametrize("default", ["4", "(4, 4)", "[4, 4]"])
def test_sizes_of_timm_are_torchs(default):
    source = "from timm.layers import to_2tuple\n" + HEAD + f"class M(nn.Module):\n    def __init__(self, size={default}):\n        super().__init__()\n        self.size = to_2tuple(size)\n\n    def forward(self, x):\n        return x.reshape(self.size)\n"
    module = load(convert_source(source))["M"]
    assert module((2, 8)).size == (2, 8) and module(4).size == (4, 4)


def test_models_are_not_registered():
    result = convert_source("from timm.models.registry import register_model\n" + HEAD + "@register_model\ndef small(n=3):\n    return nn.Linear(n, n)\n")
    assert not result.diagnostics and "register_model" not in result.code


REPORTED = {
    "a model": ("from torchvision.models import resnet50", "        self.net = resnet50()", "torchvision.models.resnet50"),
    "a base class": ("import transformers", "        self.net = transformers.BertModel.from_pretrained('b')", "transformers.BertModel.from_pretrained"),
    "another layer": ("from timm.layers import DropPath, GluMlp", "        self.net = GluMlp(3)", "timm.layers.GluMlp"),
}  # fmt: skip


@pytest.mark.parametrize("name", REPORTED)
def test_what_is_built_on_torch_is_reported_at_its_line(name):
    line, made, what = REPORTED[name]
    source = f"{line}\nimport torch.nn as nn\n\n\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n{made}\n\n    def forward(self, x):\n        return self.net(x)\n"
    assert (8, "no-rule", f"{what} is built on torch, and has no JAX equivalent here") in {(d.line, d.id, d.message) for d in convert_source(source).diagnostics}


def test_constants_and_tokenizers_are_not_reported():
    source = "from timm.data import IMAGENET_DEFAULT_MEAN\nfrom transformers import AutoTokenizer\nimport torch\nimport torchvision\n\nNEW = torchvision.__version__ > '0.9'\n\n\ndef f(x, text):\n    return torch.exp(x) - IMAGENET_DEFAULT_MEAN[0], AutoTokenizer.from_pretrained(text)\n"
    assert not convert_source(source).diagnostics


LIGHTNING = """{imports}

class M({base}):
    def __init__(self, n=3, scale=2.0, *, bias=True):
        super().__init__()
        self.save_hyperparameters({saved})
        self.fc = nn.Linear({kept}.n, n, bias=bias)

    def forward(self, x):
        return self.fc(x) * {kept}.scale

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self(x), y)
        self.log("loss", loss, prog_bar=True)
        return loss
"""


@pytest.mark.parametrize(("imports", "base"), [("import pytorch_lightning as pl\n", "pl.LightningModule"), ("from lightning.pytorch import LightningModule\n", "LightningModule"), ("import lightning as L\n", "L.LightningModule")])
@pytest.mark.parametrize("saved", ["", '"n", "scale"', 'ignore=["bias"]', 'ignore="bias", logger=False'])
def test_lightning(imports, base, saved, monkeypatch):
    class Theirs(torch.nn.Module):
        def save_hyperparameters(self, *args, **kwargs):
            self.hparams = types.SimpleNamespace(n=3, scale=2.0)

    library = types.SimpleNamespace(LightningModule=Theirs)
    for name in ("pytorch_lightning", "lightning", "lightning.pytorch"):
        monkeypatch.setitem(sys.modules, name, library)
    source = LIGHTNING.format(imports=imports + HEAD, base=base, saved=saved, kept="self.hparams")
    result = convert_source(source)
    assert [(d.id, d.message) for d in result.diagnostics] == [("taken-for-granted", "self.log() is left out: return what is to be logged")]
    assert "ightning" not in result.code
    theirs, ours = both_modules(source, result)
    params, _ = from_torch(theirs, ours)
    x, y = torch.randn(4, 3), torch.randn(4, 3)
    theirs.log = lambda *args, **kwargs: None
    assert_close(ours.training_step(params, (x.numpy(), y.numpy()), 0), theirs.training_step((x, y), 0).detach().numpy())


def test_hyperparameters_by_subscript_stay():
    source = LIGHTNING.format(imports="import pytorch_lightning as pl\n" + HEAD, base="pl.LightningModule", saved="", kept="self.hparams").replace("self.hparams.scale", 'self.hparams["scale"]')
    assert {(d.line, d.id) for d in convert_source(source).diagnostics} >= {(14, "undefined-name"), (15, "undefined-name")}


def test_imports_of_such_libraries_that_nothing_uses_go():
    source = "import torchvision\nimport timm.models as models\nfrom torchvision import datasets, transforms\n" + HEAD + "def f(root):\n    return datasets.MNIST(root)\n"
    lines = convert_source(source).code.splitlines()
    assert [line for line in lines if "torchvision" in line or "timm" in line] == ["from torchvision import datasets"]
