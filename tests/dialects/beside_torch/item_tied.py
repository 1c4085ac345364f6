# A param under a second name, of what a Sequential has at a place.
import torch
from torch import nn


class Same(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(nn.Tanh(), nn.Linear(n, n))
        self.weight = self.net[1].weight

    @staticmethod
    def ones():
        return torch.ones(1)

    def forward(self, x):
        return self.net(x) * self.weight.sum() + self.ones()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.same = Same(4)

    def forward(self, x, y):
        return self.same(x) + y
