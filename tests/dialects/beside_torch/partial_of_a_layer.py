from torch import nn
from functools import partial


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        linear = partial(nn.Linear, bias=False)
        self.first, self.second = linear(4, 4), linear(4, out_features=3)

    def forward(self, x, y):
        return self.second(self.first(x) * y)
