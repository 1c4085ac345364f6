from torch import nn
from functools import reduce


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)])

    def forward(self, x, y):
        if y.shape[0] > 1:
            h = reduce(lambda out, f: f(out.clone().add_(1.0)), self.layers, x + y)
            x = h * 2
        return reduce(lambda a, b: b(a), self.layers, x)
