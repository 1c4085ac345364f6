# Params that get their names in a loop, and are read by those names.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(2):
            self.register_parameter(f"g{i}", nn.Parameter(torch.ones(4, 4)))
            setattr(self, "h_%d" % i, nn.Parameter(torch.ones(4)))

    def forward(self, x, y):
        return x @ self.g0 * self.h_0 + y @ self.g1 * self.h_1
