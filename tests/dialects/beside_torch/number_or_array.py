# A number on one side of a branch, where the other sets an array.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("hits", torch.zeros(()))

    def forward(self, x, y):
        diff = self.fc(x) - y
        if diff.sum() > 0:
            self.loss = diff.mean()
        else:
            self.loss = 0
        return self.loss + diff
