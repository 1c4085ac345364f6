from torch import nn


class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.bn = nn.BatchNorm1d(d)

    def forward(self, x):
        return self.bn(x)


class Net(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.m = nn.Sequential(*(Norm(d) for _ in range(2)))

    def forward(self, x, y):
        return self.m(x) + y


class Other(Net):
    def __init__(self, d=4):
        super().__init__(d)
        self.m = Norm(d)
