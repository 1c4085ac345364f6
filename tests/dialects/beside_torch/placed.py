import torch
import torch.nn.functional as F
from torch import nn


class Scaled(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2


class Mixed(nn.Linear):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        where = {"device": kwargs.get("device", None), "dtype": kwargs.get("dtype", None)}
        self.out = Scaled(4, 4, **where)

    def forward(self, x):
        return self.out(super().forward(x))


class Net(nn.Module):
    def __init__(self, device=None, dtype=None):
        super().__init__()
        factory_kwargs = {"device": device, "dtype": dtype}
        self.weight = nn.Parameter(torch.empty((4, 4), **factory_kwargs))
        self.bias = nn.Parameter(torch.zeros(4, **factory_kwargs))
        self.fc = nn.Linear(4, 4, bias=False, **factory_kwargs)
        self.mixed = Mixed(4, 4, device=device)
        nn.init.normal_(self.weight, std=0.5)

    def forward(self, x, y):
        return self.mixed(self.fc(F.linear(x, self.weight, self.bias))) + y
