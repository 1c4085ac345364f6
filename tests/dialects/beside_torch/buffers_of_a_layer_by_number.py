# A class that is a layer of torch's, and that registers buffers in a loop.
import torch
import torch.nn.functional as F
from torch import nn


class Scaled(nn.Linear):
    def __init__(self, a, b, n=2):
        super().__init__(a, b)
        for i in range(n):
            self.register_buffer("u%d" % i, torch.randn(1, 4))

    def forward(self, x):
        return F.linear(x, self.weight * getattr(self, "u%d" % 0), self.bias)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scaled = Scaled(4, 4)

    def forward(self, x, y):
        return self.scaled(x) + y
