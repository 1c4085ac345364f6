"""What a dict has under one key is written in place, and what it has under others is not."""

import torch
from torch import nn


def put(held, k, v):
    held["k"] = k
    held["n"] = v * 2
    held["n"] += 1
    return held


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.held = {}
        self.streams = False

    def complete(self, k, y):
        if self.held:
            k = torch.cat([self.held["keys"], k], dim=0)
        if self.streams:
            if k is not y:
                self.held["keys"] = k[1:]
            if "offset" in self.held:
                self.held["offset"] += 1
            else:
                self.held["offset"] = torch.tensor(0)
        return k

    def forward(self, x, y):
        k = self.complete(self.lin(x), y)
        held = put({}, k, y)
        parts = {}
        parts["a"] = k
        parts["b"] = y * 2
        parts["b"] += 1
        return held["k"] * held["n"] + parts["a"] * parts["b"] + k
