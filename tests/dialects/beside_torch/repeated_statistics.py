# Adaptive instance norm: batch_norm updates copies that nobody reads again; in a loop, the next turn does.
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("var", torch.ones(4))

    def forward(self, x, y):
        mean, var = self.mean.repeat(2), self.var.repeat(2)
        x = F.batch_norm(x.repeat(1, 2), mean, var, y.mean(0).repeat(2), None, True, 0.1, 1e-5)
        mean, var = self.mean + 1, self.var * 2
        for step in range(3):
            y = F.batch_norm(x[:, :4] * y, mean, var, None, None, step < 2)
        return x[:, 4:] + y
