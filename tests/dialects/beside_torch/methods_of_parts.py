# Methods of what is built already, which set its buffers, params and fields.
import torch
import torch.nn.functional as F
from torch import nn


class Masked(nn.Linear):
    def __init__(self, n, m):
        super().__init__(n, m)
        self.register_buffer("mask", torch.ones(m, n))
        self.gain = 1.0

    def set_mask(self, mask):
        self.mask.copy_(mask.t())

    def zero(self, gain=2.0):
        nn.init.zeros_(self.bias)
        self.gain = gain

    def forward(self, x):
        return F.linear(x, self.mask * self.weight, self.bias) * self.gain


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.other = Masked(4, 4), nn.Linear(4, 4)

    def init_weights(self):
        self.fc.set_mask(torch.ones(4, 4).tril())
        nn.init.normal_(self.other.weight, std=0.02)

    def forward(self, x):
        return self.other(self.fc(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.pair = Masked(4, 4), Pair()
        self.pair.init_weights()
        self.pair.fc.zero(0.5)
        self.fcs = nn.Sequential(Masked(4, 4), nn.Tanh(), Masked(4, 4))
        for m in self.fcs.modules():
            if isinstance(m, Masked):
                m.set_mask(torch.ones(4, 4).tril())
        self.reset()

    def reset(self):
        self.fc.zero()

    def forward(self, x, y):
        return self.fcs(self.pair(self.fc(x))) + y
