# What one name may run, a method or a property, is called in one way.
# Lists of params that a loop fills before they are one of torch's.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        first = []
        for i in range(n):
            first.append(nn.Parameter(torch.ones(4) * i))
        self.first = nn.ParameterList(first)
        more = [nn.Parameter(torch.zeros(4))]
        more.extend([nn.Parameter(torch.ones(4) * i) for i in range(n)])
        more += [nn.Parameter(torch.randn(4))]
        self.more = nn.ParameterList(more)

    def forward(self, x, y):
        for scale in self.more:
            x = x * scale + y
        return x * self.first[0] + self.first[1]
