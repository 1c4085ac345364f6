import torch
import torch.nn.functional as F
from torch import nn


class Shifted(nn.Sequential):
    def forward(self, x, shift):
        for layer in self:
            x = layer(x) + shift
        return x


class Chain(nn.ModuleList):
    def forward(self, x):
        for layer in self:
            x = layer(x)
        return x


class Bag(nn.ModuleDict):
    def forward(self, x):
        for layer in self.values():
            x = layer(x)
        return x


def grow(net, layer):
    net.add_module("more", layer)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Shifted(nn.Linear(4, 4))
        self.a.last = nn.Tanh()
        self.b = Shifted(nn.Linear(4, 4), nn.Linear(4, 4))
        self.b[1] = nn.Sigmoid()
        self.c = Shifted(nn.Linear(4, 4))
        for i in range(2):
            setattr(self.c, f"act{i}", nn.ELU())
        self.d = Chain([nn.Linear(4, 4)])
        self.d += [nn.Tanh(), nn.BatchNorm1d(4)]
        self.e = nn.Sequential(nn.Linear(4, 4))
        grow(self.e, nn.BatchNorm1d(4))
        self.f = Bag({"a": nn.Linear(4, 4)})
        self.f.update({"b": nn.BatchNorm1d(4), "c": nn.Tanh()})

    def forward(self, x, y):
        z = self.c(self.b(self.a(x, y), x), y)
        return self.f(self.e(self.d(z)))
