# What one member of an enum fills, each in its turn.
import torch
from torch import nn
import enum


class Begin(enum.Enum):
    HALF = "half"
    ONE = "one"

    @classmethod
    def from_str(cls, name):
        return cls(name)

    def apply(self, x, scale):
        if self == Begin.HALF:
            nn.init.constant_(x, 0.5 * scale)
        elif self == Begin.ONE:
            nn.init.ones_(x)


class Net(nn.Module):
    def __init__(self, bias=True, begin="half"):
        super().__init__()
        begin_ = Begin.from_str(begin)
        self.w = nn.Parameter(torch.Tensor(4))
        self.bias = nn.Parameter(torch.Tensor(4)) if bias else None
        for parameter in [self.w, self.bias]:
            if parameter is not None:
                begin_.apply(parameter, 3)

    def forward(self, x, y):
        x = x * self.w + y
        return x if self.bias is None else x + self.bias
