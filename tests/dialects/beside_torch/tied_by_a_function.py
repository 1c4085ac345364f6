# A function outside of the class ties two of its layers.
import torch
from torch import nn


def tie(layer, other):
    layer.weight = other.weight


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        tie(self.head, self.emb)

    def forward(self, x, y):
        return self.head(x) + y.sum()
