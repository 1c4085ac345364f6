"""Loops that data ends by a `return`, with a number that counts the turns and ends them too."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.settled(x, y) + self.steps(y, x)

    def settled(self, x, y):
        tries = 0
        while tries < 6:
            x = torch.tanh(self.fc(x))
            tries += 1
            if x.abs().max() < 0.3:
                return x * 2
            if tries == 4:
                break
        return x * y * tries

    def steps(self, x, y):
        seen = 0
        for i in range(5):
            x = x * 0.5
            seen += 2
            if seen > 8:
                x = x + y
            if x.abs().max() < 0.1:
                return x * seen
        return x + seen
