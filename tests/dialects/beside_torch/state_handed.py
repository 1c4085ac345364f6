# What has a state is handed to a method or function that only calls it.
import torch
from torch import nn


def chunked(function, size, *inputs):
    if size > 0:
        parts = zip(*(i.chunk(size, 0) for i in inputs))
        return torch.cat([function(*p) for p in parts], 0)
    return function(*inputs)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.size = 0
        self.norm = nn.BatchNorm1d(4)
        self.first = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.rest = nn.ModuleList([nn.BatchNorm1d(4), nn.BatchNorm1d(4)])

    def feed(self, x):
        return self.norm(x) * 2

    def twice(self, layer, x, y):
        return layer(layer(x) + y)

    def forward(self, x, y):
        x = self.twice(self.first, x, y) + chunked(self.feed, self.size, y)
        for layer in self.rest:
            x = self.twice(layer, x, y)
        return x
