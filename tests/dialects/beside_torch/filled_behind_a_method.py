import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(4))
        self.mask = torch.ones(3, 4)
        self.check()
        self.mask[0] = 2.0

    def check(self):
        self.total = self.mask.sum().item()

    def forward(self, x, y):
        return x * self.w * self.mask + self.total
