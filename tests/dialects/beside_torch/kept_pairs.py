from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fcs = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.drops = nn.ModuleList([nn.Dropout(0.0) for _ in range(2)])

    def forward(self, x, y):
        pairs = zip(self.fcs, self.drops)
        for i, (fc, drop) in enumerate(pairs):
            x = drop(fc(x)) * (i + 1)
        drops = reversed(self.drops)
        for drop in drops:
            x = drop(x + 1)
        return x + y
