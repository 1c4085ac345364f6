"""Params of a layer that is built to lend them: one may be absent, and they are filled later."""

import torch
import torch.nn.functional as F
from torch import nn


class Projection(nn.Module):
    def __init__(self, bias=True):
        super().__init__()
        layer = nn.Linear(4, 8, bias=bias)
        self.weight = layer.weight
        self.bias = layer.bias
        if bias:
            self.bias.data.zero_()
        out = nn.Linear(4, 4, bias=bias)
        self.out_weight = out.weight
        self.out_bias = out.bias if bias else None
        with torch.no_grad():
            self.out_weight.mul_(0.5)

    def forward(self, x):
        gate, x = F.linear(x, self.weight, self.bias).chunk(2, dim=-1)
        x = F.linear(x * torch.sigmoid(gate), self.out_weight)
        return x if self.out_bias is None else x + self.out_bias


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Projection()
        self.other = Projection(bias=False)

    def forward(self, x, y):
        return self.one(x) + self.other(y)
