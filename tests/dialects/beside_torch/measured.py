import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.v = nn.Parameter(torch.rand(size))
        bound = 1.0 / self.v.size(0) ** 0.5
        self.v.data.uniform_(-bound, bound)
        n = self.v.size(0)
        self.w = nn.Parameter(torch.ones(n, n))
        nn.init.constant_(self.w, 1 / n)

    def forward(self, x, y):
        return x @ self.w * self.v + y
