# Layers that are taken out of a list: those behind them are numbered anew.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.GELU(), nn.Linear(4, 4)])
        del self.layers[1]
        self.layers.pop(0)
        del self.layers[-1]
        self.more = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.last = self.more.pop(-1)

    def forward(self, x, y):
        for layer in self.layers.children():
            x = layer(x)
        for layer in self.more:
            x = layer(x)
        return self.last(x) + y
