"""Functions outside of classes: those that make params, and those that draw beside a name `key`."""

import pytest
import torch

from .verified import verify

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

"""
PROGRAMS = {
    "a function that makes a param": """
def weight(*sizes):
    return nn.Parameter(nn.init.kaiming_normal_(torch.zeros(*sizes), mode="fan_out"))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = weight(3, 3)

    def forward(self, x):
        return x @ self.w
""",
    "a function that draws, with a key of attention": """
def attention(query, key, value, p=0.0, training=False):
    weights = F.softmax(query @ key.transpose(-2, -1), dim=-1)
    return F.dropout(weights, p, training) @ value


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 9)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        query, key, value = self.fc(x).chunk(3, dim=-1)
        return self.drop(attention(query, key, value, 0.1, self.training))
""",
}


@pytest.mark.parametrize("target", ["flax", "equinox"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_beside_torch(name, target):
    x = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)
    verify(HEAD + PROGRAMS[name], "Net", "", [x], target)
