# A second name of a buffer, and what torch's tensors have that arrays have under another name.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.full((4,), 2.0))
        self.gain = self.scale

    def forward(self, x, y):
        x = x.mul(self.gain)
        if hasattr(x, "fix"):
            x = x.trunc()
        return x * y if hasattr(x, "detach") else y * self.scale
