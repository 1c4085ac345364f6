"""Layers made, and called, in what the inner clauses of a comprehension go over."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        blocks = [m for _ in range(depth) for m in (nn.Linear(4, 4), nn.ReLU(inplace=True))]
        self.net = nn.Sequential(*blocks)
        self.rows = nn.ModuleList([nn.Linear(4, 4) for i in range(depth) for _ in range(i + 1)])
        self.pairs = nn.ModuleList(
            [
                nn.Sequential(one, nn.Linear(4, 4))
                for i in range(depth)
                for one in [nn.Linear(4, 4), nn.Linear(4, 4)]
                if i
            ]
        )
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.0)

    def forward(self, x, y):
        x = self.net(x)
        for layer in self.rows:
            x = torch.tanh(layer(x))
        for pair in self.pairs:
            x = pair(x)
        parts = [self.drop(p) for v in (x, y) for p in self.drop(self.norm(v)).chunk(2, 1)]
        return torch.cat(parts)
