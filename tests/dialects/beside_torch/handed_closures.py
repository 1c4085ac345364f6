# Functions inside of a method, handed to one outside, have its params and its mode already.
import torch
from torch import nn


def add_residual(x, residual, ratio=0.0):
    part = x[:2]
    return torch.cat([part + residual(part), x[2:]])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.0)

    def forward(self, x, y):
        def first(x):
            return self.drop(self.a(x))

        def second(x):
            return self.b(x)

        x = add_residual(x, residual=first)
        return add_residual(x, residual=second) + y
