import torch
import torch.nn as nn

INPUTS = "f32[2,3]"


class RelA(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(n))
        self.register_buffer("index", torch.arange(n))
        self.hits = 0

    def get_bias(self, scale=1.0):
        return self.table[self.index] * scale

    def forward(self, x):
        return x + self.get_bias()


class RelB(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.mlp = nn.Linear(1, n)

    def get_bias(self, scale=1.0):
        return self.mlp(torch.ones(1)) * scale

    def forward(self, x):
        return x + self.get_bias()


KINDS = dict(a=RelA, b=RelB)


def get_kind(name):
    return KINDS[name]


class Net(nn.Module):
    def __init__(self, kind="b"):
        super().__init__()
        cls = get_kind(kind)
        self.rel = cls(3)

    def forward(self, x):
        if self.rel is not None:
            b = self.rel.get_bias(scale=2.0)
            x = x * b
        return self.rel(x)
