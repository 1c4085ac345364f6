# Masks of the layers that a constructor chooses, as in MADE.
import torch
import torch.nn.functional as F
from torch import nn


class Masked(nn.Linear):
    def __init__(self, n, m):
        super().__init__(n, m)
        self.register_buffer("mask", torch.ones(m, n))

    def set_mask(self, mask):
        self.mask.data.copy_(mask.t())

    def forward(self, x):
        return F.linear(x, self.mask * self.weight, self.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(Masked(4, 4), nn.Tanh(), Masked(4, 4))
        self.set_masks()

    def set_masks(self):
        masks = [torch.ones(4, 4).tril(), torch.ones(4, 4).triu()]
        layers = [m for m in self.net.modules() if isinstance(m, Masked)]
        for layer, mask in zip(layers, masks):
            layer.set_mask(mask)

    def forward(self, x, y):
        return self.net(x) + y
