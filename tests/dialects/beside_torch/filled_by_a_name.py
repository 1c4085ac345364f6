# Names for the arrays of layers, which are filled by them.
from torch import nn


def branch(conv, branches):
    weight = conv.weight
    n = weight.size(0)
    nn.init.normal_(weight, 0, (2.0 / (n * branches)) ** 0.5)
    nn.init.constant_(conv.bias, 0)


class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.fcs = nn.ModuleList([nn.Linear(4, 4) for _ in range(n)])
        for fc in self.fcs:
            branch(fc, n)
        self.last(self.fcs[0])

    def last(self, fc):
        if fc.bias is not None:
            bias = fc.bias
            nn.init.ones_(bias.data)

    def forward(self, x, y):
        for fc in self.fcs:
            x = fc(x)
        return x * y
