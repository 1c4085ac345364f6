import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kinds = ("add", "subtract")
        self.layers = nn.ModuleList(
            [nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)]) for _ in range(2)]
        )
        self.last = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))

    def forward(self, x):
        pairs = list(zip(self.layers, [1.0, 2.0]))
        for (f, g), gain in pairs:
            x = x + g(f(x)) * gain
        several = (self.kinds, self.layers)
        for i, (kind, (f, g)) in enumerate(zip(*several)):
            x = x + f(x) * i if kind == "add" else x - g(x)
        return checkpoint_sequential(self.last, 1, x, use_reentrant=False)
