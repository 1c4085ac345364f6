from torch import nn


class Enc(nn.Module):
    def __init__(self, *blocks):
        super().__init__()
        self.net = nn.Sequential(*blocks)

    def forward(self, x):
        return self.net(x)


class Enc2(nn.Module):
    def __init__(self, blocks, n):
        super().__init__()
        self.net = nn.Sequential(*blocks, nn.Linear(n, n))

    def forward(self, x):
        return self.net(x)


class Net(nn.Module):
    def __init__(self, n=4, distil=True):
        super().__init__()
        self.a = Enc(nn.ReLU(), nn.Linear(n, n))
        self.b = Enc2([nn.ReLU(), nn.BatchNorm1d(n)], n)

    def forward(self, x, y):
        return self.b(self.a(x))
