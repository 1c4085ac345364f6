"""Small packages of several files, each of which ends in a class Net: what crosses files is converted and computes the same."""

import sys

import pytest

from transpile.verification import run

HEAD = "import math\n\nimport torch\nimport torch.nn as nn\n\n"

# name -> (shapes of the inputs, {file: text})
PACKAGES = {
    "a filler of another file gives back what it fills": (
        "f32[2,3]",
        {
            "filling.py": """
def scaled_(tensor, scale=1.0):
    with torch.no_grad():
        tensor.normal_(std=math.sqrt(scale / tensor.shape[1]))


def filled_(tensor):
    scaled_(tensor, scale=2.0)
""",
            "model.py": """
from .filling import filled_


def start(module):
    if isinstance(module, nn.Linear):
        filled_(module.weight)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 64)
        self.apply(start)

    def forward(self, x):
        return self.fc(x)
""",
        },
    ),
    "layers with submodules and placement": (
        "f32[2,3,5,5]",
        {
            "layers.py": """
class NormAct(nn.BatchNorm2d):
    def __init__(self, n, act=nn.PReLU, drop=None, device=None, dtype=None):
        super().__init__(n, device=device, dtype=dtype)
        self.drop = drop() if drop is not None else nn.Identity()
        self.act = act()

    def forward(self, x):
        mean = self.running_mean if not self.training or self.track_running_stats else None
        x = nn.functional.batch_norm(
            x,
            self.running_mean if not self.training or self.track_running_stats else None,
            self.running_var if not self.training or self.track_running_stats else None,
            self.weight,
            self.bias,
            self.training or mean is None,
            0.2,
            self.eps,
        )
        return self.act(self.drop(x))


class Norm1(nn.GroupNorm):
    def __init__(self, n, **kwargs):
        super().__init__(1, n, **kwargs)


def padded(i, o, k, **kwargs):
    kwargs.setdefault("bias", False)
    return nn.Conv2d(i, o, k, padding=k // 2, **kwargs)


def conv(i, o, k, **kwargs):
    groups = kwargs.pop("groups", 1)
    return padded(i, o, k, groups=groups, **kwargs)
""",
            "model.py": """
from . import layers


class Net(nn.Module):
    def __init__(self, norm_layer=layers.Norm1, device=None, dtype=None):
        dd = {"device": device, "dtype": dtype}
        super().__init__()
        self.conv = layers.conv(3, 4, 3, **dd)
        self.act = layers.NormAct(4, **dd)
        self.norm = norm_layer(4, **dd)
        self.last = layers.Norm1(4, eps=1e-3, **dd)
        self.checkpointing = False
        self.num_features = 4
        self.head = nn.Linear(self.num_features, 2)

    def set_checkpointing(self, enable=True):
        self.checkpointing = enable

    def prune(self, n):
        self.num_features = n

    def forward(self, x):
        x = self.act(self.conv(x))
        x = self.last(x) if self.checkpointing else self.norm(self.last(x))
        return self.head(x.mean((2, 3)))
""",
        },
    ),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_package(name, tmp_path, monkeypatch):
    inputs, files = PACKAGES[name]
    package = f"package{list(PACKAGES).index(name)}"
    (tmp_path / package).mkdir()
    for file, text in {"__init__.py": "", **files}.items():
        (tmp_path / package / file).write_text(HEAD + text if text else "")
    monkeypatch.setattr(sys, "path", list(sys.path))
    report = run({"path": str(tmp_path / package / "model.py"), "cls": "Net", "init": "", "inputs": inputs})
    assert not [row for row in report.rows if row.check == "diagnostic" or not row.ok]
