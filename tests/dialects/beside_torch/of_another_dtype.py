# In torch a buffer has the dtype of what it is given last: floats, where it was of integers.
import torch
from torch import nn


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("counts", torch.zeros(4, dtype=torch.long))

    def forward(self, x):
        return x * self.counts


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Counts()
        self.register_buffer("mean", torch.zeros(4, dtype=torch.long))
        self.register_buffer("seen", torch.ones(3, dtype=torch.bool))

    def forward(self, x, y):
        z = self.inner(x)
        self.inner.counts = self.inner.counts / 2 + 0.75
        self.mean = self.mean + 0.5
        self.seen = self.seen + torch.ones(3)
        return self.inner(x) + y * self.mean + z * self.seen[:, None]
