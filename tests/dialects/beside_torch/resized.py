# `resize` and `resize_as`, which torch calls deprecated, are views.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        h = self.fc(x).resize(2, 6)
        x = x * 1
        x.resize(12)[0] = 5.0
        return h * y.t().resize_as(h) + x.reshape(2, 6)
