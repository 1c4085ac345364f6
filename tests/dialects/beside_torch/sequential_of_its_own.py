from torch import nn


class Chain(nn.Sequential):
    def forward(self, x, z=None):
        for m in self:
            x = m(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.empty = Chain()
        self.fc = Chain(nn.Linear(4, 4))
        self.norm = Chain(nn.BatchNorm1d(4))

    def forward(self, x, y):
        return self.norm(self.fc(self.empty(x))) + y
