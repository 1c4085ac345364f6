# The phase of 0 is flat in torch, where JAX has NaN: silence and padding have such bins.
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, y):
        f = torch.fft.rfft(x, dim=1)
        f[:, 0] = 0
        return f.angle().sum() * y + torch.angle(y)
