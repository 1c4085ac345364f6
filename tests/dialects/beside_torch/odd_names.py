# Submodules whose names are none of Python's.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fcs = nn.Sequential()
        self.fcs.add_module("pool-norm", nn.Linear(4, 4))
        self.add_module("pool-act", nn.Linear(4, 4))
        self.add_module("in", nn.Linear(4, 4))

    def forward(self, x, y):
        x = getattr(self, "in")(x + self.fcs(x))
        return self._modules["pool-act"](x) + y
