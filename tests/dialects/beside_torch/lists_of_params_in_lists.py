"""Lists of parameters in a list of parameters, as nViT has its residual scales."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.scales = nn.ParameterList([])
        for i in range(2):
            self.scales.append(nn.ParameterList([nn.Parameter(torch.full((n,), 0.5)), nn.Parameter(torch.ones(n) * i)]))

    def forward(self, x):
        for a, b in self.scales:
            x = x * a + b
        return x
