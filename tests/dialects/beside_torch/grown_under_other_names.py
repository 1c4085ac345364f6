import torch
import torch.nn.functional as F
from torch import nn


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.Identity()

    def forward(self, x):
        return self.norm(self.fc(x))


def grow(net, layer):
    net.add_module("more", layer)


def fill(layers, n):
    for _ in range(n):
        layers.append(nn.BatchNorm1d(4))


def enter(layers):
    layers["b"] = nn.BatchNorm1d(4)


def swap(net):
    net[0] = nn.BatchNorm1d(4)


def with_norm(body):
    body.norm = nn.BatchNorm1d(4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.grown = nn.Sequential(nn.Linear(4, 4))
        grow(self.grown, nn.BatchNorm1d(4))
        layers = [nn.Linear(4, 4)]
        fill(layers, 2)
        self.filled = nn.Sequential(*layers)
        self.entered = nn.ModuleDict({"a": nn.Linear(4, 4)})
        enter(self.entered)
        self.listed = nn.ModuleList([nn.Linear(4, 4)])
        self._fill(self.listed)
        self.swapped = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
        swap(self.swapped)
        self.body = Body()
        with_norm(self.body)
        self.named = nn.Sequential(nn.Linear(4, 4))
        named = self.named
        named.add_module("norm", nn.BatchNorm1d(4))
        late = nn.Sequential(nn.Linear(4, 4))
        self.late = late
        late.add_module("norm", nn.BatchNorm1d(4))
        self.stages = nn.ModuleList()
        for _ in range(2):
            stage = nn.ModuleList([nn.Linear(4, 4)])
            self.stages.append(stage)
            stage.append(nn.BatchNorm1d(4))

    def _fill(self, layers):
        layers.append(nn.BatchNorm1d(4))

    def forward(self, x, y):
        for layer in self.listed:
            x = layer(x)
        for name in self.entered:
            y = self.entered[name](y)
        for stage in self.stages:
            for layer in stage:
                x = layer(x)
        return self.swapped(self.filled(self.grown(x))) + self.body(self.late(self.named(y)))
