# What one call may run is called in one way.
from torch import nn


def first(net, z):
    return net.fc(z * 2)


def second(net, z, scale=1):
    return net.norm(z) * scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x, y):
        run = second if x.dim() == 2 else first
        for f in (first, second):
            y = f(self, y)
        return run(self, x) + y
