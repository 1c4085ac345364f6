# What a function inside a constructor adds to a container around it is called with its params.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [4, 5, 4]
        net, layers = nn.Sequential(), [nn.Tanh()]

        def unit(i, norm=False):
            net.add_module(f"lin{i}", nn.Linear(sizes[i], sizes[i + 1]))
            if norm:
                net.add_module(f"norm{i}", nn.LayerNorm(sizes[i + 1]))

        def add(size):
            layers.append(nn.Linear(size, size))
            layers.append(nn.BatchNorm1d(size))

        def deepen(n):
            self.deep.append(nn.Linear(n, n))
            if len(self.deep) > 1:
                self.deep.append(nn.Tanh())

        self.deep = nn.Sequential()
        deepen(4)
        deepen(4)
        unit(0)
        net.add_module("mid", nn.Tanh())
        unit(1, True)
        add(4)
        self.net, self.layers = net, nn.Sequential(*layers)

    def forward(self, x, y):
        return self.net(x) * self.layers(self.deep(y))
