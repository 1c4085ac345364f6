# Functions that are chosen, kept and handed on have keys, whichever draws.
import torch
from torch import nn


def noisy(x, std=0.1):
    return x + std * torch.rand_like(x).clamp(max=0)


def plain(x, std=0.1):
    return x * 2 + std


def twice(f, x):
    return f(f(x))


class Chosen(nn.Module):
    def __init__(self, on):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.on = on
        self.f = noisy if on else plain

    def forward(self, x):
        f = noisy if self.on else plain
        return self.f(self.fc(x)) + f(x, std=0.2) + twice(noisy if self.on else plain, x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Chosen(True), Chosen(False)

    def forward(self, x):
        return self.a(x) + self.b(x)
