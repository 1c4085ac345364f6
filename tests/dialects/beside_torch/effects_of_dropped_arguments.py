# What a rule takes no notice of (the tensor whose device is asked for) still does what it does.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("calls", torch.zeros(1))

    def counted(self, x):
        self.calls += 1
        return x * 2

    def forward(self, x, y):
        device = self.norm(x).device
        layout = self.counted(x).layout
        return torch.zeros_like(y, device=device, layout=layout) + y
