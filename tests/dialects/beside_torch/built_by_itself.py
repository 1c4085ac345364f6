from torch import nn
from collections import OrderedDict


def build(made):
    for key in made.keys():
        value = made[key]
        if isinstance(value, OrderedDict):
            value = build(value)
            made[key] = value
    return nn.Sequential(made)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        inner = OrderedDict([("a", nn.Linear(4, 4)), ("b", nn.Tanh())])
        self.body = build(OrderedDict([("a", nn.Linear(4, 4)), ("b", inner)]))

    def forward(self, x):
        return self.body(x)
