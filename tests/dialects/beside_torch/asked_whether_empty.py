# An empty Sequential is false, by its length.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, same=True):
        super().__init__()
        self.skip = nn.Sequential() if same else nn.Conv1d(4, 4, 1)
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        out = self.fc(x)
        if self.skip:
            out = self.skip(out) * 2
        return out + y
