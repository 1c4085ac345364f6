import torch
from torch import nn


class Shift:
    def __init__(self, by):
        self.by, self.calls = by, 0

    def apply_(self, x):
        self.calls += 1
        x += self.by

    def keep(self, buffer, value):
        buffer.copy_(value)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.shift = Shift(2.0)
        self.register_buffer("last", torch.zeros(3, 4))

    def forward(self, x, y):
        shift, z = Shift(1.0), self.fc(x)
        self.shift.apply_(z)
        shift.apply_(z)
        self.shift.keep(self.last, y)
        return z * shift.calls + self.last
