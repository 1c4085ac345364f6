"""Norms, limits and deviations where no gradient passes; and what keeps one that is given to a module."""

import torch
from torch import nn


class Queue(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        self.last = x
        return x.mean(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.queue = Queue()
        self.register_buffer("ema", torch.zeros(4))

    @torch.no_grad()
    def scale(self, x):
        return self.lin(x).norm(dim=-1, keepdim=True).clamp(0.5, 2.0) + x.std(0)

    def forward(self, x, y):
        with torch.no_grad():
            norms = x.norm() + (x * 0).norm(dim=1, keepdim=True)
            limited = torch.clamp(self.lin.weight, -0.1, 0.1)
            if self.training:
                self.ema += x.clamp(0, 1).mean(0)
            largest = (y * 0).norm(dim=1).argmax()
        mean = self.queue((y * 0 + self.lin(y)).clamp(min=0.0, max=10.0)).detach()
        kept = self.queue.last * mean + (x[largest] * 0).std().detach()
        return self.lin(x) / norms + self.scale(x) + y @ limited + self.ema + kept
