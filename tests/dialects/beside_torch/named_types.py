# Types that mean nothing, or something else, when the class is made.
import torch
from torch import nn
import sys

from torch import Tensor

networks = sys.modules[__name__]
KINDS = (networks.Tensor, float)


class Net(nn.Module):
    def __init__(self, robust=False):
        super().__init__()
        if robust:
            self.nn = nn.Linear(4, 4)
        self.loss = networks.Loss(4)
        self.out = nn.Linear(4, 4)

    def forward(self, x, y):
        assert isinstance(y, KINDS) and isinstance(x, networks.Tensor)
        return self.out(self.loss(x)) + y


class Loss(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.nn = nn.Linear(d, d)
        self.jax = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.nn(x) * self.jax
