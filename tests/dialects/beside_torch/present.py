import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, kernel, bias=True):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4)) if kernel else None
        self.b = nn.Parameter(torch.randn(4)) if kernel and bias else None

    def forward(self, x):
        w = self.w.to(x.dtype) if self.w is not None else None
        b = self.b.to(x.dtype) if self.b is not None else None
        if w is not None:
            x = x * w
        if b is not None:
            x = x.add_(b)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.plain, self.none = Scale(4), Scale(4, False), Scale(0)

    def forward(self, x, y):
        return self.scale(x) + self.plain(x) * self.none(x) + x * y
