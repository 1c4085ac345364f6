# Methods of layers of several classes, named as those of strings, lists and tensors are.

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.scale = nn.Parameter(torch.full((n,), 0.3))

    def encode(self, x):
        return x * self.scale, self.scale.log().sum()

    def update(self, x):
        self.count += 1
        return x + self.count

    def backward(self, z):
        return z / self.scale


class Shift(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.shift = nn.Linear(n, n)

    def encode(self, x):
        return x + self.shift(x), x.sum()

    def update(self, x):
        return self.shift(x)

    def backward(self, z):
        return z - self.shift(z)


class Flow(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def encode(self, x):
        total = 0.0
        for layer in self.layers:
            x, change = layer.encode(x)
            total = total + change
        return x, total

    def update(self, x):
        for layer in self.layers:
            x = layer.update(x)
        return x

    def backward(self, z):
        for layer in self.layers[::-1]:
            z = layer.backward(z)
        return z


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.flow = Flow([Scale(4), Shift(4)])

    def forward(self, x, y):
        z, total = self.flow.encode(x)
        return z, total, self.flow.backward(y), self.flow.update(x)
