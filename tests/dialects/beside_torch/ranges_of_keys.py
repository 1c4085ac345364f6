# Loops with keys over ranges of every kind, and results of which one is read.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        layers = []
        for i in range(1, n):
            layers.append(nn.Linear(4, 4 + 0 * i))
        for i in range(4, 2):
            layers.append(nn.Linear(4, i))
        for i in range(n, n + 1):
            layers.append(nn.Linear(4, 4 + 0 * i))
        for i in range(n, 0, -2):
            layers.append(nn.Linear(4, 4 + 0 * i))
        for i in range(-1, n - 3):
            layers.append(nn.Linear(4, 4 + i + 1))
        self.layers = nn.ModuleList(layers)
        self.drop = nn.Dropout(0.0)

    def forward(self, x, y):
        best = x
        for i in range(2, len(self.layers)):
            low, _ = torch.min(x * y, 1, keepdim=True)
            _, order = torch.sort(self.drop(self.layers[i](x)), dim=1)
            best = best * i + order * low
            if i > 2:
                best = best + where
            _, where = best.max(0)
        return best
