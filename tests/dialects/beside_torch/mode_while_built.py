# A module that is built is in training, whatever becomes of it.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.scale = 2 if self.training else 3
        self.set_up()

    def set_up(self):
        self.shift = 5 if self.norm.training else 7

    def forward(self, x, y):
        return self.norm(x) * self.scale + y * self.shift
