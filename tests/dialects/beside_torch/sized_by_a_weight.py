# A head that takes its sizes from the weight that it shares.
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, weights):
        super().__init__()
        shape = weights.shape
        self.decoder = nn.Linear(shape[1], shape[0], bias=False)
        self.decoder.weight = weights

    def forward(self, x):
        return self.decoder(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(7, 4)
        self.head = Head(self.emb.weight)

    def forward(self, x, y):
        return self.head(x) + y.sum()
