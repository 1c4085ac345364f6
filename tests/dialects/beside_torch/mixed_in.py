# Mixins in front of a base, whose methods are found by the order of the class that has both.
import torch
from torch import nn


class Rescale:
    def run(self, x):
        return self.shifted(x) * 2

    def rescale(self, x):
        return x * self.scale


class Base(nn.Module):
    def shifted(self, x):
        return x + self.shift

    def rescale(self, x):
        return x

    def forward(self, x):
        return self.rescale(x)


class Scaled(Rescale, Base):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4) * 2)
        self.shift = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return super().forward(self.run(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Scaled(), Base()

    def forward(self, x, y):
        return self.a(x) + self.b(y)
