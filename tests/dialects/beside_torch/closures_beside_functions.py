from torch import nn


def plain(z):
    return z * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.b = nn.Linear(4, 4)

    def forward(self, x, y):
        def own(x):
            return self.b(x)

        for f in [own, plain]:
            y = f(y)
        return x + y
