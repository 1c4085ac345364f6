# What torch has counted when its weights are taken goes on from there.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps, self.scale = 0, 1.5
        self.begun = False
        self.w = nn.Parameter(torch.ones(4))

    def forward(self, x, y):
        self.steps += 1
        self.scale *= 0.5
        if not self.begun:
            y = y * 2
            self.begun = True
        return x * self.w * self.steps + y * self.scale
