import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        v = torch.linspace(0, 1, 4)
        for name in ["a", "b"]:
            self.register_buffer(name, v.clone())
        for name in ("c", "d"):
            self.register_parameter(name, nn.Parameter(torch.ones(4)))

    def forward(self, x, y):
        return self.lin(x) * self.a + self.b + y * self.c - self.d
