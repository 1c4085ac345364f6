# A layer's bias is asked for its truth by what fills it, while the model is built: several numbers have none.
from torch import nn


def fill(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.5)
        if m.bias:
            nn.init.constant_(m.bias, 3.0)
        if not m.bias:
            nn.init.constant_(m.weight, 0.25)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4, bias=False)
        self.one = nn.Linear(4, 1)
        self.apply(fill)

    def forward(self, x, y):
        return self.fc(x) + self.one(y)
