import torch
from torch import nn


class Cache(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.register_buffer("kept", torch.zeros(rows, 4))

    def update(self, x):
        self.kept[:3] = x.detach()
        return self.kept


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4, bias=False)
        self.cache = None

    def forward(self, x):
        x = self.proj(x)
        return x if self.cache is None else x + self.cache.update(x)[:3]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x):
        return self.attention(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.set_up(5)

    def set_up(self, rows):
        for layer in self.layers:
            layer.attention.cache = Cache(rows)

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x)
        return x * y
