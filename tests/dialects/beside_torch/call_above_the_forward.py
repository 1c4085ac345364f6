# A base that has no forward gives its classes a `__call__`, which runs theirs.
from torch import nn


class Doubling(nn.Module):
    def __call__(self, x):
        return super().__call__(x) * 2


class Scored(Doubling):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(self.lin(x)) + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scored = Scored()

    def forward(self, x, y):
        return self.scored(x) + self.scored.lin(y)
