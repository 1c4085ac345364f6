# Equal layers of which a class above changes one.
from torch import nn


class Blk(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)
        self.act = nn.ReLU()
        self.scale = 1.0

    def forward(self, x):
        return self.act(self.lin(x)) * self.scale


class Inner(nn.Module):
    def __init__(self, d=4, n=3):
        super().__init__()
        self.blocks = nn.Sequential(*[Blk(d) for _ in range(n)])
        self.more = nn.ModuleList([Blk(d) for _ in range(n)])

    def forward(self, x):
        x = self.blocks(x)
        for m in self.more:
            x = m(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.inner.blocks[1].scale = 3.0
        self.inner.more[2].act = nn.Identity()

    def forward(self, x, y):
        return self.inner(x + y)
