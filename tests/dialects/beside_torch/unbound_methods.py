# A method of a class, not of a module, is kept on a module: each call gives it one.
import torch
from torch import nn


class Detect(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        return self.drop(self.norm(x)) * (2 if self.training else 3)


class Segment(Detect):
    def __init__(self):
        super().__init__()
        self.proto = nn.Linear(4, 4)
        self.detect = Detect.forward

    def forward(self, x):
        return self.detect(self, x) + torch.tanh(self.proto(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Segment()

    def forward(self, x, y):
        return self.head(x) + y
