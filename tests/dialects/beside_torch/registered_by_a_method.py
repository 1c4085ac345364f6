# A method registers what the constructor draws, under a name that it is given.
import math

import torch
from torch import nn


class Opt(nn.Module):
    def register(self, name, tensor, lr=None):
        self.register_parameter(name, nn.Parameter(tensor))
        optim = {"weight_decay": 0.0}
        if lr is not None:
            optim["lr"] = lr
        setattr(getattr(self, name), "_optim", optim)


class Ker(Opt):
    def __init__(self, n, lr=None):
        super().__init__()
        dt = torch.rand(n) * (math.log(2) - math.log(1)) + math.log(1)
        self.register("log_dt", dt, lr)
        self.register("A", torch.arange(n).float(), lr)
        self.C = nn.Parameter(torch.randn(n))

    def forward(self, x):
        return x * torch.exp(self.log_dt) + self.A * self.C


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = Ker(4, lr=0.1)
        for i in range(2):
            self.add(f"w{i}", self.begin(4))

    def begin(self, n):
        return torch.rand(n) * 2 + 1

    def add(self, name, tensor):
        setattr(self, name, nn.Parameter(tensor))

    def forward(self, x, y):
        return self.k(x) * self.w0 + self.w1
