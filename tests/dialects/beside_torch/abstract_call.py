# A `__call__` behind torch's in the order of the bases never runs.
from torch import nn
from abc import ABCMeta, abstractmethod


class Scoring(object, metaclass=ABCMeta):
    @abstractmethod
    def __call__(self, x):
        raise NotImplementedError()


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x)


class Scored(Base, Scoring):
    def forward(self, x):
        return super().forward(x) * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scored = Scored()

    def forward(self, x, y):
        return self.scored(x) + y
