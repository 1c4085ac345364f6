"""A buffer of a layer that a block names again, which other constructors ask for: MADE's degrees."""

import torch
import torch.nn.functional as F
from torch import nn


class Masked(nn.Linear):
    def __init__(self, in_degrees, out_features):
        super().__init__(len(in_degrees), out_features)
        degrees = torch.arange(out_features) % 3 + 1
        self.register_buffer("mask", (degrees[..., None] >= in_degrees).double())
        self.register_buffer("degrees", degrees)

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


class Block(nn.Module):
    def __init__(self, in_degrees):
        super().__init__()
        self.linear = Masked(in_degrees, 4)
        self.degrees = self.linear.degrees

    def forward(self, x):
        return torch.tanh(self.linear(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Masked(torch.arange(1, 5), 4)
        degrees = self.first.degrees
        blocks = []
        for _ in range(2):
            blocks.append(Block(degrees))
            degrees = blocks[-1].degrees
        self.blocks = nn.ModuleList(blocks)
        self.last = Masked(degrees, 4)

    def forward(self, x, y):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x) + y
