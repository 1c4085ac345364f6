import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, learned):
        super().__init__()
        values = [torch.linspace(-1, 1, n) for n in (3, 5)]
        if learned:
            self.values = nn.ParameterList([nn.Parameter(v) for v in values])
        else:
            self.values = values

    def forward(self, x):
        return x * self.values[0][1] + sum(v.sum() for v in self.values)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Scaled(True), Scaled(False)

    def forward(self, x, y):
        return self.a(x) * self.b(y)
