import torch
from torch import nn
import enum


class Start(enum.Enum):
    CONSTANT = "constant"
    ONES = "ones"

    @classmethod
    def from_str(cls, name):
        try:
            return cls(name)
        except ValueError:
            raise ValueError("no such start")

    def fill(self, x, value):
        if self == Start.CONSTANT:
            nn.init.constant_(x, value)
        elif self == Start.ONES:
            nn.init.ones_(x)


class Net(nn.Module):
    def __init__(self, start="constant"):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(4))
        self.shift = nn.Parameter(torch.zeros(4))
        chosen, ones = Start.from_str(start), Start.ONES
        chosen.fill(self.scale, 0.5)
        ones.fill(self.shift, 0.5)

    def forward(self, x, y):
        return x * self.scale + y * self.shift
