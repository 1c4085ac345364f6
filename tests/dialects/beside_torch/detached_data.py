# What is written through its data keeps its gradient, which `detach` takes as ever.
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, y):
        z, u = x * 3, x * y
        z.data[0] = 5
        with torch.no_grad():
            u.clamp_(-0.5, 0.5)
        return z * u, z.detach(), z.mul(2).detach(), u.detach()
