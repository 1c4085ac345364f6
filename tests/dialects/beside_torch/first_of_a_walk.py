# What walks over modules give is gone through once, as torch's generators are: `next(net.children())`.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
        self.width = next(self.net.children()).out_features
        name, first = next(self.net.named_children())
        walk = self.net.modules()
        next(walk)
        self.rest = len(list(walk)) + first.in_features
        self.name = name + next(self.net.named_modules())[0]

    def forward(self, x, y):
        return self.net(x) * self.width + self.rest + len(self.name) * y[:, :3]
