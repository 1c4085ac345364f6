"""A list of no sizes and one of numbers: what a constructor makes of a parameter tells which."""

import torch
from torch import nn

class Inner(nn.Module):
    def __init__(self, input_size, heads):
        super().__init__()
        self.fc = nn.Linear(input_size, 4, bias=False)
        self.scale = nn.Parameter(torch.Tensor(input_size).uniform_(1.0 / input_size ** 0.5))
        self.w = nn.Parameter(torch.Tensor(heads, 4))
        self.b = nn.Parameter(torch.Tensor(heads))
        nn.init.normal_(self.w); nn.init.zeros_(self.b)

    def forward(self, x):
        return self.fc(x * self.scale) + self.b @ self.w

class Net(nn.Module):
    def __init__(self, config=None):
        super().__init__()
        size = config.size if config else 4
        self.inner = Inner(size, 3 if config is None else config.heads)

    def forward(self, x, y):
        return self.inner(x) * y
