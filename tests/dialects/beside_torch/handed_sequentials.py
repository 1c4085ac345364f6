# Layers under names that are computed, and Sequentials, are given to what calls them.
from torch import nn


class Net(nn.Module):
    def __init__(self, n=3):
        super().__init__()
        self.n = n
        for i in range(n):
            setattr(self, "layer" + str(i), nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
        self.last = nn.Sequential(nn.Tanh(), nn.Linear(4, 4))

    def single(self, model, x):
        return [model(x)]

    def forward(self, x, y):
        result = []
        for i in range(self.n):
            model = getattr(self, "layer" + str(i))
            result.append(self.single(model, x))
        return result, self.single(self.last, y)
