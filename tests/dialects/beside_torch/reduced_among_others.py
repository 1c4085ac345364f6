# One of many values of a statement, by names that others have: those of a function around it too.
import torch
import torch.nn.functional as F
from torch import nn
from functools import reduce


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x, y):
        def run():
            return reduce(lambda x, f: torch.tanh(f(x)), self.layers, x)

        z = x + reduce(lambda x, f: torch.tanh(f(x)), self.layers, y)
        h = F.relu(nn.Sequential(*self.layers)(z + y)) * 2
        return h + reduce(lambda h, f: f(h), self.layers, h), run()
