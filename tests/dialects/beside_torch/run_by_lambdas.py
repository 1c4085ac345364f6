# A function inside, whatever writes it, gives the state back; so does one of two.
from torch import nn


class Net(nn.Module):
    def __init__(self, deep=True):
        super().__init__()
        self.deep = deep
        self.norm, self.fc = nn.BatchNorm1d(4), nn.Linear(4, 4)

    def forward(self, x, y):
        run = lambda t: self.norm(self.fc(t))  # by a name
        if self.deep:
            def last(t):
                return self.fc(run(t))
        else:
            def last(t):
                return self.norm(t)
        return last(run(x)) + last(y)
