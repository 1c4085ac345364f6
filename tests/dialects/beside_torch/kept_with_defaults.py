# A default that no call replaces is a part of self.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.other = nn.Linear(4, 4)
        act = self.other

        def run(t, *, fc=self.fc):
            return fc(t)

        self.f = lambda t, scale=2.0, fc=self.fc: fc(t) * scale
        self.run = run
        self.g = lambda t, act=self.fc: act(t)

    def forward(self, x, y):
        return self.f(x) + self.f(y, 3.0) * self.run(x) + self.g(y) + self.other(x)
