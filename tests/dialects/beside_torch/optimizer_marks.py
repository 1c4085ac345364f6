# Marks for an optimizer on params that a loop finds by their names, and on one that has a name.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, lr=None):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
        for layer in self.net.children():
            for name, value in layer.state_dict().items():
                optim = {"weight_decay": 0.0, "lr": lr}
                setattr(getattr(layer, name), "_optim", optim)
        self.scale = nn.Parameter(torch.ones(4))
        setattr(self.scale, "_optim", {"lr": lr})

    def forward(self, x, y):
        return self.net(x) * self.scale + y
