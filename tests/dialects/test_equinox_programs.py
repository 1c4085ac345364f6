"""Programs of torch that were once wrong or refused in Equinox, against torch."""

import pytest
import torch

from .verified import verify

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
PROGRAMS = {
    "layers with and without a state at one call": """
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.ones(1))

    def set(self, v):
        self.n.copy_(v)

    def forward(self, x):
        return x * self.n

class Net(nn.Module):
    def __init__(self, norm=None):
        super().__init__()
        self.norm = nn.BatchNorm1d(3) if norm else nn.Sequential(nn.Linear(3, 3), Scale())
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.ReLU(), Scale(), nn.Linear(3, 3)])
        self.fc = nn.Sequential(nn.Linear(3, 3), nn.Sigmoid())

    def forward(self, x):
        x = self.fc(self.norm(x))
        for layer in self.layers:
            x = layer(x)
        return x
""",
    "names of torch's classes": """
def sequential(*args):
    modules = []
    for module in args:
        if isinstance(module, nn.Sequential):
            for submodule in module.children():
                modules.append(submodule)
        elif isinstance(module, nn.Module):
            modules.append(module)
    return nn.Sequential(*modules)

class Net(nn.Module):
    def __init__(self, act=nn.Tanh):
        super().__init__()
        self.net = sequential(nn.Sequential(nn.Linear(3, 3), act()), nn.Linear(3, 3))

    def forward(self, x):
        return self.net(x)
""",
    "submodules under computed names": """
class Layer(nn.Sequential):
    def __init__(self, n):
        super().__init__()
        self.norm1 = nn.BatchNorm1d(n)
        self.add_module("relu", nn.ReLU())
        self.conv1 = nn.Linear(n, 3)

    def forward(self, x):
        return torch.cat([x, super().forward(x)], 1)

class Block(nn.Sequential):
    def __init__(self, n):
        super().__init__()
        self.add_module("first", nn.Linear(3, 3))
        for i in range(n):
            self.add_module("layer%d" % (i + 1), Layer(3 + 3 * i))
        self.last = nn.Tanh()

class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.n = n
        for i in range(n):
            self.add_module("block%d" % i, Block(1))
            setattr(self, f"act{i}", nn.BatchNorm1d(6))
            setattr(self, f"fc{i}", nn.Linear(6, 3))
        self.first = nn.Linear(3, 3)
        for name, m in self.named_modules():
            if name.startswith("fc") and isinstance(m, nn.Linear):
                nn.init.constant_(m.weight, 0.5)

    def forward(self, x):
        x = self.first(x)
        for i in range(self.n):
            act = getattr(self, f"act{i}")
            x = getattr(self, f"fc{i}")(act(getattr(self, "block%d" % i)(x)))
        return x + self.fc0.weight.sum()
""",
    "what a model caches": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.mask = None
        self.last = None
        self.window = torch.ones(1)
        self.register_buffer("n", torch.zeros(3))

    def forward(self, x):
        if self.mask is None or self.mask.shape[0] != x.shape[0]:
            self.mask = torch.full((x.shape[0], 1), 0.5)
        if self.window.shape[0] != x.shape[1]:
            self.window = torch.ones(x.shape[1]) * 2
        if self.last is not None:
            x = x + 0 * self.last  # torch keeps it from the comparison before
        self.last = x.detach()
        self.n = self.n + 1
        return self.fc(x * self.mask * self.window) + self.n
""",
    "attributes that are not always set": """
class Block(nn.Module):
    def __init__(self, n=3, proj=True, extra=False):
        super().__init__()
        self.fc = nn.Linear(n, n)
        if proj:
            self.proj = nn.Linear(n, n)
        if extra:
            self.scale = 2.0
            self.gain = nn.Parameter(torch.ones(n))

    def forward(self, x):
        y = self.fc(x)
        if hasattr(self, "proj"):
            x = self.proj(x)
        if hasattr(self, "gain"):
            x = x * self.gain
        if not hasattr(self, "cache"):
            self.cache = torch.ones(3)
        return x + y * getattr(self, "scale", 3.0) * self.cache

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Block(3)
        self.b = Block(3, False, True)
        for m in self.modules():
            if hasattr(m, "proj"):
                nn.init.zeros_(m.proj.weight)

    def forward(self, x):
        if hasattr(self.b, "proj"):
            return x * 2
        return self.b(self.a(x))
""",
    "a list of NumPy's arrays": """
import numpy as np

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = [np.linspace(0, 1, 3), np.arange(3)]
        self.rows.append(np.ones(1))
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x) * torch.from_numpy(self.rows[0]) + int(self.rows[1][-1]) * len(self.rows)
""",
    "weight norm": """
from torch.nn.utils import weight_norm

def conv(*args, **kwargs):
    return weight_norm(nn.Conv1d(*args, **kwargs))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = weight_norm(nn.Linear(3, 3))
        self.b = nn.Sequential(nn.ReLU(), conv(2, 4, 1), weight_norm(nn.Conv1d(4, 2, 1), dim=None))
        self.rnn = weight_norm(weight_norm(nn.GRU(3, 3), "weight_hh_l0"), "weight_ih_l0")

    def forward(self, x):
        x, _ = self.rnn(x)
        return self.b(self.a(x)) + self.a.weight.sum() * self.a.bias
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_against_torch(name):
    inputs = [torch.randn(2, 3, dtype=torch.float64, requires_grad=True)]
    verify(HEAD + PROGRAMS[name], "Net", "", inputs, "equinox")
