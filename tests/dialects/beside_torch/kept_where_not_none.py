# What nothing is known of, kept as it is, as None, or as an array made of it.

import torch
from torch import nn


class Down(nn.Module):
    def __init__(self, sidelength, downsample=False):
        super().__init__()
        if isinstance(sidelength, int):
            self.sidelength = (sidelength, sidelength)
        else:
            self.sidelength = sidelength
        if self.sidelength is not None:
            self.sidelength = torch.Tensor(self.sidelength).float()
        else:
            assert downsample is False
        self.downsample = downsample

    def forward(self, x):
        if self.downsample:
            return x + x[:, :2].sum() / self.sidelength.sum()
        return x


class Field(nn.Module):
    def __init__(self, n, **kwargs):
        super().__init__()
        self.down = Down(kwargs.get("sidelength", None), kwargs.get("downsample", False))

    def forward(self, x):
        return self.down(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Field(4)
        self.b = Field(4, sidelength=4, downsample=True)

    def forward(self, x, y):
        return self.a(x), self.b(x)
