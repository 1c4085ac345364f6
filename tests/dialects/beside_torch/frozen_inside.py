from torch import nn


class Frozen(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def train(self, mode=True):
        super().train(mode)
        self.inner.eval()
        return self

    def forward(self, x):
        return self.inner(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.frozen = Frozen(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)))

    def forward(self, x):
        return self.frozen(x)
