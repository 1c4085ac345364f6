import torch
import torch.nn.functional as F
from torch import nn


class Head(nn.Module):
    def __init__(self, dim, out, weight):
        super().__init__()
        self.dense = nn.Linear(dim, dim)
        self.weight = weight
        self.bias = nn.Parameter(torch.zeros(out))

    def forward(self, x):
        return F.linear(self.dense(x), self.weight) + self.bias


class Net(nn.Module):
    def __init__(self, args=None, large=True):
        super().__init__()
        self.norm = getattr(args, "norm", True)
        self.embed = nn.Embedding(5, 4)
        if large:
            self.kind = "large"
            self._init_large()
        else:
            self.kind = "small"
            self.out = nn.Linear(4, 5)

    def _init_large(self):
        self.norm = nn.LayerNorm(4) if self.norm else None
        self.head = Head(4, 5, weight=self.embed.weight)

    def forward(self, x):
        x = self.embed((x.sum(1).abs() * 2).long() % 5)
        if self.norm:
            x = self.norm(x)
        return self.head(x) if self.kind == "large" else self.out(x)
