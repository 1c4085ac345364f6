# Modules of a list of the constructor's own, which are given values before they are kept.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        modules = [nn.Linear(4, 4) for _ in range(2)]
        modules[0].weight.data = modules[0].weight.data * 0.1
        modules[1].bias.data.zero_()
        self.layers = nn.ModuleList(modules)

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x) * y
        return x
