# What is copied into an array is computed from it, element by element, or is broadcast to it.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("rows", torch.zeros(3, 4))

    def step(self, h, x):
        h.copy_(torch.roll(h, 1, dims=-1))
        h.copy_(torch.tanh(h) * x[:1])
        return h + x

    def forward(self, x, y):
        with torch.no_grad():
            self.mean.copy_(self.mean * 0.9 + 0.1 * x.mean(0))
            self.rows.copy_(torch.where(self.rows > y, self.rows, x))
            self.rows.copy_(self.mean)
        return self.step(x * 2, y) * self.mean + self.rows
