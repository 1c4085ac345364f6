import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)

    def step(self, x, scale=2):
        return self.bn(x) * scale

    def forward(self, x, y):
        a, b = map(self.step, [x, y])
        c = sum(map(lambda t: self.step(t) + x, (a, b)))
        return a + b + c, torch.stack(list(map(self.step, (x, y), (3, 4))))
