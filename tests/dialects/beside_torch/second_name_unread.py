# A param under a second name that nobody asks for, of a container that grows on some ways.
from torch import nn


class Net(nn.Module):
    def __init__(self, plain=False):
        super().__init__()
        layers = [nn.Linear(4, 4)]
        if not plain:
            layers += [nn.ReLU()]
        self.out = nn.Sequential(*layers)
        self.out_weight = self.out[0].weight

    def forward(self, x, y):
        return self.out(x) + y
