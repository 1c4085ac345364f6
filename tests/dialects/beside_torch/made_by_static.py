# A static method that takes nothing makes an object, and writes what it holds.
import torch
from torch import nn


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.scale = nn.Parameter(torch.ones(4))

    @staticmethod
    def made():
        part = Part()
        part.seen += 1
        part.scale.data.fill_(2)
        return part

    def forward(self, x):
        return x * self.scale + self.seen


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part.made()

    def forward(self, x, y):
        return self.part(x) + y
