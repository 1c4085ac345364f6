import torch
from torch import nn


def fill(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.5)
        nn.init.zeros_(m.bias)


class Net(nn.Module):
    def __init__(self, activation=None):
        super().__init__()
        block = [nn.Linear(4, 4), nn.BatchNorm1d(4)]
        if activation == "relu":
            block += [nn.ReLU]
        elif activation is None:
            block += [nn.LeakyReLU(0.1)]
        block = nn.Sequential(*block)
        block.apply(fill)
        self.block = block

    def forward(self, x, y):
        return self.block(x) + y
