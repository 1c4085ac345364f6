"""Pads of which the sign is not told crop where they are below 0."""

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, shift=1, window=3):
        super().__init__()
        self.shift, self.window = shift, window
        self.padding = [window - shift, shift, -1, 2]
    def forward(self, x, y):
        b, n = x.shape
        l, r, t, u = self.padding
        a = F.pad(x, [l, r, t, u], "constant", 0)
        c = F.pad(y, (self.window - y.shape[-1], 0))
        z = x.view(1, 1, b, n)
        d = F.pad(z, (0, 0, 0, self.window - 5))
        e = F.pad(torch.relu(y), (0, self.window - 5))
        f = F.pad(y, (0, self.window - 5), value=1.0)
        return a.sum() + c + (d ** 2).mean() + e.sum() + f.sum()
