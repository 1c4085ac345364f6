# Attributes that what they held is put into, and a size beside layers in a container.
from torch import nn


class Doubled(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x) * 2


def normalization(size):
    return nn.LayerNorm(size)


class Net(nn.Module):
    def __init__(self, size=4, pool=True):
        super().__init__()
        self.size = size
        self.first = nn.Linear(4, 4)
        if pool:
            self.first = nn.Sequential(self.first, nn.Tanh())
        self.second = Doubled(nn.Linear(4, 4))
        self.second = Doubled(self.second)
        self.layers = [nn.Linear(4, 4)]
        self.layers.append(nn.ReLU())
        self.layers = nn.Sequential(*self.layers)
        self.a = nn.Sequential(normalization(self.size), nn.Linear(4, 4))
        self.b = nn.Sequential(normalization(self.size), nn.Linear(4, 4))

    def forward(self, x, y):
        return self.layers(self.second(self.first(x))) + self.a(y) * self.b(y)
