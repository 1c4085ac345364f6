import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("h", torch.zeros(3, 4))
        self.register_buffer("n", torch.zeros(4, dtype=torch.long))

    def forward(self, x, y):
        z = torch.zeros(3, 4, dtype=x.dtype)
        z[:, 1].copy_(y[:, 0])
        z[0].copy_(x[1] + 1)
        z.data[:, 2].copy_(y[:, 1].data)
        z[:, :2].copy_(x[0, :2])
        w = torch.zeros(3, 4, dtype=x.dtype)
        w.copy_(x)
        self.h.copy_(x.detach())
        self.n[:2].copy_(x[0, :2] * 3)
        self.h.data.copy_(self.h * 0.5 + y.detach() * 0.5)
        return z * x + w
