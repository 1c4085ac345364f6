import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ws = nn.ParameterList([nn.Parameter(torch.ones(4))])
        self.ws += [nn.Parameter(torch.full((4,), i / 2)) for i in range(2)]
        own = nn.ParameterList()
        own += (nn.Parameter(torch.zeros(4)),)
        self.own = own
        for i in range(2):
            self.grow(i)

    def grow(self, i):
        self.ws += [nn.Parameter(torch.eye(4)[i])]

    def forward(self, x, y):
        total = 0
        total += len(self.ws)
        for w in self.ws:
            x = x * w + y
        return x + self.own[0] * total
