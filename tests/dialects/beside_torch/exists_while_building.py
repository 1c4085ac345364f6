"""A function of the user's that asks whether a layer has an array, in what a walk runs and in the forward pass."""

import torch
from torch import nn


def exists(v):
    return v is not None


class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.f = nn.Linear(n, n)
        self.g = nn.Linear(n, n, bias=False)
        self.apply(self.init_weight)

    def init_weight(self, m):
        if isinstance(m, nn.Linear):
            nn.init.constant_(m.weight, 0.5)
            if exists(m.bias):
                nn.init.constant_(m.bias, 0.5)

    def forward(self, x, y):
        z = self.f(x) + self.g(y)
        if exists(self.g.bias):
            z = z + self.g.bias
        return z
