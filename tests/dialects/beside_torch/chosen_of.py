# Constants of which functions, and modules, choose by arrays.
import torch
from torch import nn


def table(n):
    angles = torch.arange(n).float()[:, None] * torch.ones(1, 4)
    return torch.cos(angles), torch.sin(angles)


def turned(x, cos, places):
    cos = cos[:8]
    return x * cos[places]


class Block(nn.Module):
    def forward(self, x, sin, places):
        return turned(x, sin, places=places)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        cos, sin = table(8)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self.block = Block()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x, y):
        places = (y[:, 0] > 0).long()
        cos, sin = self.cos, self.sin
        x = turned(x, self.cos, places) + self.block(x, self.sin, places)
        return x * self.weight + cos[places] + sin[places]
