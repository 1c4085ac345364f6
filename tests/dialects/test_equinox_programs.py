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
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_against_torch(name):
    inputs = [torch.randn(2, 3, dtype=torch.float64, requires_grad=True)]
    verify(HEAD + PROGRAMS[name], "Net", "", inputs, "equinox")
