"""A layer that stands in a Sequential already, and is filled by a method with what is drawn step by step."""

import torch
from torch import nn


class Up(nn.Module):
    def __init__(self, dim, factor=2):
        super().__init__()
        self.squared = factor**2
        conv = nn.Conv2d(dim, dim * self.squared, 1)
        self.net = nn.Sequential(conv, nn.SiLU(), nn.PixelShuffle(factor))
        self.fill(conv)

    def fill(self, conv):
        o, i, h, w = conv.weight.shape
        drawn = torch.empty(o // self.squared, i, h, w)
        nn.init.kaiming_uniform_(drawn)
        drawn = drawn[:, None].expand(-1, self.squared, -1, -1, -1)
        drawn = drawn.reshape(o, i, h, w)
        conv.weight.data.copy_(drawn)
        nn.init.zeros_(conv.bias.data)

    def forward(self, x):
        return self.net(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = Up(3)

    def forward(self, x, y):
        return self.up(x[:, None, None].expand(3, 3, 4, 4)) + y.sum()
