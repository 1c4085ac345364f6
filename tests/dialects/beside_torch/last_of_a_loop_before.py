# A second name of the last module of one loop is called after another loop has bound the first.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(4)])
        self.norms = nn.ModuleList([nn.LayerNorm(4) for _ in range(3)])

    def forward(self, x, y):
        for i, (layer, norm) in enumerate(zip(self.layers, self.norms)):
            x = norm(layer(x)) * (i + 1)
        last = layer
        for layer in self.layers:
            before = y
            y = layer(y)
        return last(x), y - before, layer(x)
