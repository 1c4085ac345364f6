# Methods called by the class, `__call__` around a layer's own.
from torch import nn


class Scaled(nn.Linear):
    def __call__(self, x):
        return super().__call__(x) * 2


class Norm(nn.BatchNorm1d):
    def __call__(self, x, scale=1.0):
        return nn.BatchNorm1d.__call__(self, x) * scale


class Base(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc, self.bn = Scaled(n, n), Norm(n)

    def forward(self, x):
        return self.bn(self.fc(x), scale=2.0)


class Middle(Base):
    def forward(self, x):
        return Base.forward(self, x) + x


class Net(Middle):
    def __init__(self):
        Middle.__init__(self, 4)

    def forward(self, x, y):
        h = Middle.forward(self, x)
        return Base.forward(self, h) * y + Net.twice(self, x)

    def twice(self, x):
        return self.bn(x) * 2
