import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, last=True):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.both = [self.a, self.norm]
        self.lins = [self.a]
        if last:
            self.b = nn.Linear(4, 4)
            self.lins += [self.b]
        self.fcs = []
        for i in range(2):
            fc = nn.Linear(4, 4)
            self.add_module("fc{}".format(i + 1), fc)
            self.fcs.append(fc)
        for layer in self.fcs:
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        inner = []
        for i in range(2):
            fc = nn.Linear(4, 4)
            setattr(self, f"inner{i}", fc)
            inner.append(fc)
        self.inner = inner[::-1]
        layers = [nn.Linear(4, 4), nn.Tanh()]
        self.net = nn.Sequential(*layers)
        self.layers = layers
        self.made = []
        for _ in range(2):
            self.made.append(nn.Linear(4, 4))
        self.seq = nn.Sequential(*self.made)
        self.head = self.tail = nn.Linear(4, 4)

    def forward(self, x, y):
        for layer in self.both:
            x = layer(x)
        for layer in self.lins:
            x = layer(x)
        for layer in self.fcs:
            x = torch.tanh(layer(x))
        for layer in self.inner:
            y = torch.tanh(layer(y))
        for layer in self.layers:
            y = layer(y)
        return self.tail(x) + self.net(y) * self.head(self.seq(y))
