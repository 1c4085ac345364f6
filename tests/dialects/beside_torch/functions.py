from torch import nn


def squared(x, y, weight=1.0):
    return ((x - y) ** 2 * weight).mean()


def absolute(x, y, weight=1.0, **kwargs):
    return (x - y).abs().mean() * weight


class Net(nn.Module):
    def __init__(self, robust=False):
        super().__init__()
        if robust:
            self.criterion = absolute
        else:
            self.criterion = squared
        self.fc = nn.Linear(4, 4)
        self.other = {"squared": squared, "absolute": absolute}["absolute"]

    def forward(self, x, y):
        x = self.fc(x)
        return self.criterion(x, y, weight=2.0) + self.other(x, y)
