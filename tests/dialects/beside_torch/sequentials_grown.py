# A Sequential that gets the layers of another: by +=, by extend, and as a sum.
from collections import OrderedDict

import torch
from torch import nn


def make(n):
    return nn.Sequential(*[nn.Linear(4, 4) for _ in range(n)])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4))
        self.net += nn.Sequential(nn.Tanh(), nn.Linear(4, 4))
        self.net += make(2)
        self.net.extend([nn.Linear(4, 4) for _ in range(2)])
        self.net += nn.Sequential(OrderedDict([("last", nn.Linear(4, 4))]))
        head = nn.Sequential()
        head.extend(make(1))
        self.head = head + make(1)

    def forward(self, x, y):
        return self.head(self.net(x)) + y
