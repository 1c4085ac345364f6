import torch
from torch import nn


class Branch(nn.Module):
    def __init__(self, size, wide):
        super().__init__()
        self.n = 1
        if wide:
            self.n = size
            self.net = nn.Sequential(nn.Linear(size, size), nn.LayerNorm(size))
            nn.init.constant_(self.net[1].weight, 2)
            self.w = nn.Parameter(torch.ones(self.n))
            self.n = 7
        elif size > 3:
            self.n = 2
            self.net = nn.Linear(size, size)
            nn.init.constant_(self.net.weight, 0.5)
            self.w = nn.Parameter(torch.ones(self.n))
            self.n = 8

    def forward(self, x):
        return self.net(x) * self.n * self.w.sum()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = Branch(4, True)
        self.other = Branch(4, False)
        self.fc = nn.Linear(4, 3)
        nn.init.zeros_(self.fc.bias)
        self.scale = nn.Parameter(torch.ones(self.fc.in_features))
        self.fc = nn.Linear(4, 4, bias=False)

    def forward(self, x, y):
        return self.fc(self.wide(x) * self.scale + self.other(y))
