# Sizes that a layer or an array of the constructor has, or that are taken modulo one; -1 is none.
import torch
import torch.nn.functional as F
from torch import nn
import math


class Net(nn.Module):
    def __init__(self, classes=4, kept=-1):
        super().__init__()
        self.classes, self.kept = classes, kept
        self.window = window = 5
        self.centers = nn.Parameter(torch.randn(self.classes, 4))
        self.fc = nn.Linear(4, self.window)

    def grid(self, h, w):
        return torch.arange(h)[:, None].expand(h, w) * torch.arange(w)[None].expand(h, w)

    def forward(self, x, y):
        b, t = x.shape
        squares = (x ** 2).sum(1, keepdim=True).expand(b, self.classes)
        squares = squares + (self.centers ** 2).sum(1, keepdim=True).expand(self.classes, b).t()
        rest = (self.window - t % self.window) % self.window
        padded = F.pad(y, (0, rest)).masked_fill(y[:, :1] > 9, -math.inf) + self.fc(x)
        z = x / x.norm(dim=1, keepdim=True)
        return squares + self.grid(3, 4), padded, z, y[:1].expand(self.kept, 4)
