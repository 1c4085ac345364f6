from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.encode = self.fc.forward
        self.normed = self.norm.forward  # which writes state

    def both(self, x, y):
        return [self.normed(v) for v in (x, y)]

    def forward(self, x, y):
        a, b = self.both(self.encode(x), y)
        return a + self.encode(b)
