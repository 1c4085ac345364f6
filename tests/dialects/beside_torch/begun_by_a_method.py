# The constructor of what extends a layer calls the method by which others begin it anew.
import torch
import torch.nn.functional as F
from torch import nn


class Own(nn.Linear):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.clear()

    def clear(self):
        self.held = None
        self.mean = torch.ones(4)
        self.n = 0

    def step(self, x):
        if self.held is None:
            self.held = torch.zeros_like(x)
        self.held = self.held * 0.5 + x.detach()
        self.mean = self.mean * 0.5 + x.mean(0).detach()
        self.n += 1
        return F.linear(x + self.held, self.weight, self.bias) * self.mean + self.n


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = Own(4, 4)

    def forward(self, x, y):
        x = self.fc.step(self.fc.step(x))
        self.fc.clear()
        x = x + self.fc.step(y)
        self.fc.clear()
        return x
