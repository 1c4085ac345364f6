# A layer's constructor goes on to that of the base behind it, which no class below one calls again.
import torch
from torch import nn


class Named(nn.Module):
    def __init__(self, name=None):
        super().__init__()
        self._name = name
        self.scale = nn.Parameter(torch.full((4,), 0.5))
        self.norm = nn.BatchNorm1d(4)


class Loss(Named):
    def scaled(self, x):
        return self.norm(x) * self.scale


class Distance(nn.SmoothL1Loss, Loss):
    'What the layer has, with a name.'


class Far(Distance):
    pass


class Line(nn.Linear, Named):
    def __init__(self, n):
        super().__init__(n, n)
        self.times = 2

    def forward(self, x):
        return super().forward(x) * self.scale * self.times


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.far, self.line = Far(reduction="none"), Line(4)

    def forward(self, x, y):
        return self.far.scaled(self.far(x, self.line(y))) + (1 if self.far._name is None else 2)
