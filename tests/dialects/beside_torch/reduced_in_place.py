# What is behind a call, or may not be evaluated, stays where it is.
import torch
import torch.nn.functional as F
from torch import nn
from functools import reduce
from itertools import accumulate


class Net(nn.Module):
    def __init__(self, deep=True):
        super().__init__()
        self.deep = deep
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x, y):
        h = F.relu(y) + reduce(lambda h, f: torch.tanh(f(h)), self.layers, x)
        h = reduce(lambda h, f: f(h), self.layers, h) if self.deep else h
        return sum(accumulate(self.layers, lambda h, f: f(h), initial=h))
