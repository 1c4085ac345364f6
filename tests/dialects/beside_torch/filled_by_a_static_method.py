# A static method has no object: what it is given first is a module like any other.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.apply(self._init)

    @staticmethod
    def _init(m):
        if isinstance(m, nn.Linear):
            nn.init.eye_(m.weight)
            m.weight.data.mul_(2).add_(0.1)
            if m.bias is not None:
                m.bias.data[::2] = -1

    def forward(self, x, y):
        return self.fc(x) + y
