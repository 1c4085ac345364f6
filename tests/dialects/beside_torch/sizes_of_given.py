# Sizes of the arrays of a module that a constructor was given, and of a row of its own.
import torch
import torch.nn.functional as F
from torch import nn


def factor(layer):
    size = layer.weight.size()
    return (2.0 / size[1]) ** 0.5


class Scaled(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.scale = factor(self.layer)

    def forward(self, x):
        return self.layer(x) * self.scale


class Wide(Scaled):
    def __init__(self, size):
        super().__init__(nn.Linear(size, 6))


class Standard(nn.Linear):
    def __init__(self, size, out, gamma=2.0):
        super().__init__(size, out)
        self.scale = gamma * self.weight[0].numel() ** -0.5

    def forward(self, x):
        return F.linear(x, self.weight * self.scale, self.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide, self.out = Wide(4), Standard(6, 4)
        self.gain = nn.Parameter(torch.Tensor(size=(4,)))
        nn.init.ones_(self.gain)

    def forward(self, x, y):
        return self.out(self.wide(x)) * self.gain + y
