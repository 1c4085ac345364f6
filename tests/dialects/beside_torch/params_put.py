import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ps = nn.ParameterList([nn.Parameter(torch.ones(4)) for _ in range(2)])
        self.ps[0] = nn.Parameter(torch.zeros(4))

    def forward(self, x, y):
        for p in self.ps:
            x = x * 2 + p
        return x * y
