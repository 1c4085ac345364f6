# What a cache of Python's keeps of one trace is nothing in another.
import torch
from torch import nn
import functools
from functools import lru_cache


@functools.lru_cache(maxsize=None)
def table(n):
    return torch.arange(n, dtype=torch.float64) / n


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    @lru_cache(maxsize=8)
    def mask(self, n, device):
        return torch.ones(n, n, device=device).tril()

    def forward(self, x, y):
        return self.fc(x) + table(4) * self.mask(4, x.device)[1] + y
