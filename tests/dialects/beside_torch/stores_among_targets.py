import torch
from torch import nn


def swapped(a, b):
    a, b[0] = b, a[0]  # the name a is b from here on
    b[1] = 5.0
    return a, b


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(4))

    def rows(self, x, y):
        c = x.clone()
        v, c[0] = c[0], y[0]  # v is a view, read before the store and changed by it
        c[1], d = d_of(c), c
        d[2] = 7.0
        d, d[0] = y * 1, y[2]  # what is stored into is the new d
        return v + c, d

    def names(self, x, y):
        c = x.clone()
        v = c[0]
        v, c[0] = y[0], v * 2  # v is no view of c any more
        i = 0
        i, c[i] = 1, y[1]  # the new i
        self.kept, c[2] = c[2], y[2]
        return v + i, c

    def forward(self, x, y):
        a, b = swapped(x * 1, y * 1)
        return a, b, self.rows(x, y), self.names(x, y)


def d_of(c):
    return c[0] * 2
