# Builtins that a dialect writes, where the words are the user's.
from torch import nn


def zip(url):
    return url


class Net(nn.Module):
    def __init__(self, n=3, len=2):
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(1, n):
            self.layers.append(nn.Sequential(nn.Linear(4, len * i), nn.Linear(len * i, 4)))

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x)
        return x + zip(y)
