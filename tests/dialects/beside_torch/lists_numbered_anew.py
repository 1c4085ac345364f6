import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))
        self.layers = self.layers[1:]  # 0, 1, 2 from here on
        self.layers.insert(0, nn.Linear(4, 4, bias=False))
        heads = nn.ModuleList([nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4, bias=False)])
        self.heads = heads[1:]
        rest = heads[:1]
        self.rest = rest

    def forward(self, x, y):
        for i, layer in enumerate(self.layers[1:]):
            x = layer(x) if i % 2 else torch.relu(layer(x))
        for head in self.heads:
            y = head(y)
        return self.layers[0](x) + self.rest[0](y)
