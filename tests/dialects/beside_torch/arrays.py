# Arrays under two names, and the params of others in a list; layers that a Sequential gets by name.
import torch
from torch import nn


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(5, 4)

    def forward(self, ids):
        return self.emb(ids)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        p = nn.Parameter(torch.randn(4))
        self.a = p
        self.b = p
        self.c = self.d = nn.Parameter(torch.randn(4))
        self.body = Body()
        self.features = nn.Sequential(nn.Linear(4, 4))
        for i in range(2):
            self.features.add_module("block%d" % i, nn.Linear(4, 4))

    def forward(self, x, y):
        x = self.features(x + self.body(torch.arange(3)))
        return x * self.a + y * self.b + self.c * self.d
