"""A function that is given a part of an array, writes it, and gives it back: the array follows."""

import torch
from torch import nn


def shift(x):
    x[:, 1:] = x[:, :-1].clone()
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.arange(12.0).reshape(3, 4))

    def forward(self, x, y):
        x = x * 1
        first = shift(x[:, :2])
        second = shift(x[:, 1:3])
        for i in range(2):
            last = shift(x[i:, 2:])
            y = y + last.sum()
        kept = shift(self.table[:, :2])
        second.mul_(2)
        return torch.cat([first, second], 1) * y + x + kept.sum() * self.table
