# Objects that write what they are called with.
import torch
from torch import nn


class Fill:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, w):
        w.data.uniform_(-self.scale, self.scale)


class Grow:
    def __call__(self, x):
        x.mul_(2)


def grown(f, x):
    f(x)
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(4))
        self.fc = nn.Linear(4, 4)
        init = Fill(0.5)
        init(self.w)
        Fill(0.1)(self.fc.weight)

    def forward(self, x, y):
        grow = Grow()
        x = x * 3
        z = x
        grow(x)
        return self.fc(z) * self.w + x + grown(Grow(), y + 1)
