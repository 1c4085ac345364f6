import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, learned=True):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        if learned:
            self.gain = nn.Parameter(torch.full((1,), 0.5))
        else:
            self.gain = 1.0
        self.offset = nn.Parameter(torch.ones(4)) if learned else 2.0

    def forward(self, x, y):
        return self.fc(x) * self.gain + self.offset * y
