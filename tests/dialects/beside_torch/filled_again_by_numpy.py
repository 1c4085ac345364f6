import numpy as np
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(4))
        self.register_buffer("b", torch.empty(4))
        np.random.seed(0)
        self.fill()

    def fill(self):
        self.b.copy_(torch.from_numpy(np.random.randn(4)))

    def again(self):
        self.fill()

    def forward(self, x):
        return x * (self.w + 1) + self.b


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = Head()

    def forward(self, x):
        return self.h(x)
