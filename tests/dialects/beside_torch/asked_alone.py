# Functions that only ask what a module is are given it as it is.
from torch import nn


def width(layer):
    return layer.in_features


def factor(layer):
    return 2 if isinstance(layer, nn.Linear) else 3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x, y):
        return self.fc(x) * width(self.fc) * factor(self.fc) + self.norm(y) * factor(self.norm)
