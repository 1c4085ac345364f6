import torch
from torch import nn


class Sized(nn.Module):
    def __init__(self, n, dim, sizes, settings):
        super().__init__()
        self.n = n
        self.a = nn.Parameter(torch.rand(n))
        self.b = nn.Parameter(torch.randn(dim))
        self.c = nn.Parameter(torch.empty(dim).uniform_(-1, 1))
        self.d = nn.Parameter(torch.randn(sizes))
        self.e = nn.Parameter(torch.randn(settings.dim))
        self.register_buffer("steps", torch.arange(self.n))

    def forward(self, x, drawn):
        x = x * self.a + self.b + self.c + self.d + self.e + self.steps
        return x + torch.rand(drawn).shape[0] + torch.rand(self.n).shape[0]


class Settings:
    dim = 4


def sized(cls, *sizes):
    return cls(*sizes)


class Net(nn.Module):
    def __init__(self, known={"number": 4, "shape": (3, 4)}):
        super().__init__()
        self.own = sized(Sized, known["number"], known["number"], known["shape"], Settings)

    def forward(self, x, y):
        return self.own(x, (3, 4)) + self.own(y, 4)
