import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, wide=False, window="hann_window"):
        super().__init__()
        self.a = nn.Sequential(nn.Sequential(nn.Linear(4, 4)), nn.Linear(4, 4), nn.LayerNorm(4))
        self.b = nn.Sequential(nn.Linear(4, 4))
        self.window = getattr(torch, window)(4)
        nn.init.orthogonal_(self.a[1].weight if wide else self.b[0].weight, gain=2.0)
        for block in self._modules:
            for m in self._modules[block]:
                fill(m)

    def forward(self, x, y):
        return self.b(self.a(x)) * y + self.window.to(x)


def fill(m):
    if isinstance(m, nn.Linear):
        if m.bias is not None:
            m.bias.data.fill_(0.5)
    elif isinstance(m, nn.LayerNorm):
        m.weight.data.fill_(2)
