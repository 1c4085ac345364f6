# Equal layers without arrays, and none at all.
from torch import nn


class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.own = nn.Linear(4, 4)
        self.pools = nn.ModuleList()
        for i in range(n):
            self.pools.append(nn.AvgPool1d(3, stride=1, padding=1))
        self.none = nn.ModuleList([nn.Linear(4, 4) for _ in range(n - 2)])

    def forward(self, x, y):
        x = self.own(x)
        for pool in self.pools:
            x = pool(x)
        for layer in self.none:
            x = layer(x)
        return x + y
