"""A class that extends a layer of torch's and keeps what it has computed."""

import torch
from torch import nn


class Masked(nn.Linear):
    def __init__(self, dim):
        super().__init__(dim, dim)
        self.mask = None

    def forward(self, x):
        if self.mask is None or self.mask.shape != x.shape:
            self.mask = torch.ones_like(x) * 0.5
        return super().forward(x) * self.mask


class Noise(nn.Dropout):
    def __init__(self):
        super().__init__(p=0.0)
        self.kept = None

    def forward(self, x):
        if self.kept is None:
            self.kept = torch.tanh(x.detach())
        return super().forward(x) + self.kept


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = Masked(4)
        self.noise = Noise()

    def forward(self, x, y):
        return self.noise(self.fc(x)) + self.fc(y)
