# Two ModuleLists as one.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.second = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x, y):
        for layer in self.first + self.second + self.first:
            x = layer(x)
        return x + y
