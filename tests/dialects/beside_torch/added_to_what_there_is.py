# What a sum begins with is None.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x, y):
        total = last = None
        for layer in self.layers:
            x = layer(x)
            total = total.add_(x * y) if total is not None else x + y
            last = last.unsqueeze(-1).squeeze(-1) if last is not None else x
        return total * last
