# Ties of what stands in a container under a number.
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.last = nn.Linear(4, 4), nn.Linear(4, 4)
        self.outs = nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4, bias=False))
        self.outs[-1].weight = self.words.weight
        self.last.weight = self.outs[0].weight

    def forward(self, x, y):
        return self.outs(self.words(x)) * F.linear(y, self.words.weight) + self.last.weight
