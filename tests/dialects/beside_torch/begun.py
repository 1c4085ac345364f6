from torch import nn


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.block = nn.Sequential(nn.ELU(inplace=True), nn.BatchNorm1d(d), nn.Linear(d, d))

    def forward(self, x):
        return x + self.block(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), Block(4), Block(4))
        self.head = nn.Sequential(nn.Identity(), nn.ELU(inplace=True), nn.Linear(4, 4))

    def forward(self, x, y):
        x = self.net(x)
        z = self.head(x)
        return x * z + y
