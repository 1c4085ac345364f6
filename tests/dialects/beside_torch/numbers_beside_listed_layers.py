import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        return x / self.size


def ones(scale=1.0):
    def init(shape):
        return torch.ones(shape) * scale

    return init


class Config:
    width = 4


class Net(nn.Module):
    def __init__(self, config=Config()):
        super().__init__()
        self.width = width = config.width
        layers = [Scaled(width)]
        layers.append(nn.Linear(4, width * 2))
        layers[-1].weight.data = ones(2.0)(layers[-1].weight.shape)
        nn.init.zeros_(layers[-1].bias)
        self.all = nn.ModuleList(layers)

    def forward(self, x, y):
        return self.all[1](self.all[0](x)) * self.width + y.sum()
