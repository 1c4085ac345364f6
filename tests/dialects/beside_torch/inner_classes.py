# Classes in the bodies of others, asked for by self, by the class and in a class below.
from torch import nn


class Base(nn.Module):
    class Inner(nn.Module):
        scale = 2

        def __init__(self, n, k=1):
            super().__init__()
            self.fc, self.norm, self.k = nn.Linear(n, n), nn.BatchNorm1d(n), k

        def forward(self, x):
            return self.norm(self.fc(x)) * self.k

    class Config:
        n = 4


class Net(Base):
    class Other(Base.Inner):
        def forward(self, x):
            return super().forward(x) * 2

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([self.Inner(self.Config.n, k=i) for i in range(2)])
        self.other, self.base = self.Other(4), Base.Inner(4)
        self.drop = nn.Dropout(0.0)

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x)
        return self.base(self.drop(self.other(x))) + y * self.Inner.scale
