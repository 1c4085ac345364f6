# A function in the place of a class, which comes to the blocks by an attribute.
from torch import nn


class Block(nn.Module):
    def __init__(self, n, norm_layer=nn.BatchNorm1d):
        super().__init__()
        self.norm = norm_layer(n)

    def forward(self, x):
        return self.norm(x)


class Base(nn.Module):
    def __init__(self, norm_layer=nn.BatchNorm1d):
        super().__init__()
        self.norm_layer = norm_layer
        self.body = self.make(4)

    def make(self, n):
        return nn.Sequential(nn.Linear(n, n), Block(n, self.norm_layer))

    def forward(self, x, y):
        return self.body(x) * y


class Net(Base):
    def __init__(self, groups=2):
        super().__init__(norm_layer=lambda n: nn.GroupNorm(groups, n))
