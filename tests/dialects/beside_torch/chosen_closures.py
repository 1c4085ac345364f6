from torch import nn


def last(z):
    return z * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        fs = []
        for layer in (self.norm, self.fc):

            def each(z, layer=layer):
                return layer(z)

            fs += [last, each]
        for f in fs:
            x = f(x)
        return x + y
