"""What is made of each param is added up, whatever their order: of parts, while a model is built,
of layers that compute a weight and of a weight that two layers have."""

import torch
from torch import nn


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.bn = nn.BatchNorm1d(4)
        self.scale = nn.Parameter(torch.ones(4))
        self.total = sum(p.numel() for p in self.parameters())

    def forward(self, x):
        return self.bn(self.a(x)) * self.scale * self.total


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.n = sum(p.numel() for p in self.inner.parameters())
        self.normed = nn.utils.weight_norm(nn.Linear(4, 4))
        self.listed = nn.ParameterList([nn.Parameter(torch.ones(4))])
        self.first = nn.Linear(4, 4, bias=False)
        self.last = nn.Linear(4, 4, bias=False)
        self.last.weight = self.first.weight
        self.register_buffer("mask", torch.ones(4))

    def forward(self, x, y):
        count = sum([p.numel() for p in self.parameters()])
        largest = max(p.abs().max() for p in self.inner.parameters())
        penalty = sum(p.pow(2).sum() for p in self.parameters())
        x = self.last(self.first(self.normed(x))) + self.listed[0]
        return self.inner(x) / self.n + y * self.mask * count + penalty + largest
