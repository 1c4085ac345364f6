# A size by a name that devices have, too, of which nothing else is known.
import torch
from torch import nn


class LowRank(nn.Module):
    def __init__(self, n, rank):
        super().__init__()
        self.rank = rank
        self.down = nn.Parameter(torch.Tensor(n, rank))
        self.up = nn.Parameter(torch.zeros(self.rank, n))
        nn.init.normal_(self.down)
        nn.init.normal_(self.up)

    def forward(self, x):
        return x @ self.down @ self.up


class Net(nn.Module):
    def __init__(self, n=4, rank=2):
        super().__init__()
        ranks = [rank] if isinstance(rank, int) else rank
        self.layers = nn.ModuleList([LowRank(n, rank=ranks[i]) for i in range(len(ranks))])

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x) + y
        return x
