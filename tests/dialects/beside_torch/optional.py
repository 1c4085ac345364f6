# What may be no module is handed to what asks, and to what calls it.
from torch import nn


def exists(value):
    return value is not None


def run(f, x):
    return f(x) if exists(f) else x


class Block(nn.Module):
    def __init__(self, size=None):
        super().__init__()
        self.norm = nn.LayerNorm(size) if exists(size) else None
        self.fc = None if size is None else nn.Linear(size, size)

    def forward(self, x):
        if exists(self.norm):
            x = self.norm(x)
        return run(self.fc, x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Block(), Block(4)

    def forward(self, x, y):
        return self.b(self.a(x)) + y
