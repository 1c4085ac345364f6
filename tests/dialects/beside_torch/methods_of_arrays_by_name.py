# Methods of an array by names that a list has, each on what the one before gives.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, names=("tanh", "sigmoid")):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.names = names

    def forward(self, x, y):
        x, y = self.fc(x), y - x
        for name in ["relu", "tanh"]:
            x = getattr(x, name)()
        for name in self.names:
            y = getattr(y, name)()
        return x + y
