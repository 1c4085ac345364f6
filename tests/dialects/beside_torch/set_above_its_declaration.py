"""Methods that set a buffer above the one that declares it: in a class, and in the class above."""

import torch
from torch import nn


class Cached(nn.Module):
    def scaled(self, x):
        if self.scale is None:
            self.scale = x * 2
        return x * self.scale

    def averaged(self, x):
        self.mean = x.mean(0)
        return x - self.mean


class Net(Cached):
    def __init__(self):
        super().__init__()
        self.scale = None
        self.register_buffer("mean", torch.zeros(4))
        self.reset()

    def forward(self, x, y):
        if self.mask is None or self.mask.shape != x.shape:
            self.mask = torch.ones_like(x) + y
        return self.scaled(x) + self.averaged(y * self.mask + self.mean)

    def reset(self):
        self.mask = None
