# A mixin in front of a layer of torch's writes a buffer.
import torch
from torch import nn


class Counted:
    def forward(self, x):
        self.calls += 1
        return super().forward(x) * 2


class Lin(Counted, nn.Linear):
    def __init__(self, i, o):
        super().__init__(i, o)
        self.register_buffer("calls", torch.zeros(()))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(Lin(4, 4), nn.Tanh())

    def forward(self, x, y):
        return self.a(x) + y
