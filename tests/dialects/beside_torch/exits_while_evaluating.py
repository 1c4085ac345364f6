"""Layers that end early where data say so, though never while training: no turn sets the flag then."""

import torch
import torch.nn.functional as F
from torch import nn


class Early(nn.Module):
    def __init__(self, limit):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.heads = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.limit = limit

    def forward(self, x):
        for layer, head in zip(self.layers, self.heads):
            x = torch.tanh(layer(x))
            logits = head(x)
            conf = F.softmax(logits, -1).max()
            if not self.training and conf > self.limit:
                return logits * 2
        return logits


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.soon, self.late = Early(0.3), Early(1.0)

    def forward(self, x, y):
        return self.soon(x) + self.late(y)
