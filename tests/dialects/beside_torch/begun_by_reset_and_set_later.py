import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.size = n, 1
        self.fc = nn.Linear(4, 4)
        self.register_buffer("mask", torch.empty(n))
        self.reset()

    def reset(self):
        n, times = self.size
        self.mask.copy_(torch.ones(n * times))

    def scale(self, v):
        self.mask = torch.full((self.size[0],), v)

    def forward(self, x):
        return self.fc(x) * self.mask
