# What a list gives to a Sequential has its place elsewhere.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.s = nn.Sequential(*[self.a, nn.ReLU()])
        layers = [self.b]
        layers.append(nn.Tanh())
        self.t = nn.Sequential(*layers)
        self.u = nn.Sequential(*([self.a, nn.Linear(4, 4)] + [self.b]))

    def forward(self, x, y):
        return self.s(x) + self.a(y) * self.t(x) - self.b(self.u(y))
