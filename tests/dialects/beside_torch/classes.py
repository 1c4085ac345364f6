import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d)

    def forward(self, x):
        return self.fc(x)


class Other(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc = nn.Linear(d, d, bias=False)

    def forward(self, x):
        return torch.tanh(self.fc(x))


KINDS = {"block": Block, "other": Other}


class Stage(nn.Module):
    def __init__(self, d, n, made):
        super().__init__()
        self.layers = nn.ModuleList()
        self.build(d, n, made)

    def build(self, d, n, made):
        for _ in range(n):
            self.layers.append(made(d))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Stage(4, 2, KINDS["block"])
        self.second = Stage(4, 1, KINDS["other"])

    def forward(self, x, y):
        return self.second(self.first(x)) + y
