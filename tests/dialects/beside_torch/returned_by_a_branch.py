# Each side of a branch on data returns, and the layer that one calls in its return writes a state, which the other returns.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        if x.sum() > 0:
            return self.norm(x)
        hidden = self.fc(y)
        if hidden.sum() > 0:
            return self.norm(hidden) + 1
        return hidden * 2
