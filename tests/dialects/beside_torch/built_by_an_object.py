# An object of no module that builds some.
from torch import nn


class Parts:
    def __init__(self, n):
        self.fc = nn.Linear(n, n)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        parts = Parts(4)
        self.fc = parts.fc

    def forward(self, x, y):
        return self.fc(x) + y
