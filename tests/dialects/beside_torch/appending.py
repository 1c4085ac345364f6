from torch import nn


class Layers(nn.Sequential):
    def __init__(self, n):
        super().__init__()
        for _ in range(n):
            self.append(nn.Linear(4, 4))
        self.append(nn.Tanh()).append(nn.BatchNorm1d(4))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = Layers(2)

    def forward(self, x, y):
        return self.layers(x) + y
