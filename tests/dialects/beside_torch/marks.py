import torch
from torch import nn


def mark(p):
    setattr(p, "_no_weight_decay", True)
    return p


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.fc.bias._no_reinit = True
        self.scale = mark(nn.Parameter(torch.ones(4)))
        for p in self.parameters():
            p.tag = str(p.ndim)

    def forward(self, x, y):
        x.seen = True
        return self.fc(x) * self.scale + y
