# Masks that constructors make choose.
import torch
from torch import nn
import numpy as np


class Loss(nn.Module):
    def __init__(self, n, given):
        super().__init__()
        self.n = n
        self.mask = self._mask().type(torch.bool)
        self.same = torch.eye(2 * n, dtype=torch.bool)
        self.register_buffer("given", given > 0)
        self.register_buffer("pairs", torch.triu(torch.ones(2 * n, 2 * n), 1) == 1)

    def _mask(self):
        diag = np.eye(2 * self.n) + np.eye(2 * self.n, 2 * self.n, k=-self.n)
        return (1 - torch.from_numpy(diag)).type(torch.bool)

    def forward(self, x, y):
        z = torch.cat([x, y], dim=0)
        s = z @ z.t()
        filled = torch.zeros_like(s)
        filled[self.pairs] = z.view(-1)[:15]
        pairs = s.masked_select(self.pairs).view(3, -1)
        return s[self.mask].view(9, -1), s[~self.same] * (s * self.same).sum(), pairs, filled, s[self.given]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.loss = nn.Linear(4, 4), Loss(3, torch.eye(6))

    def forward(self, x, y):
        return self.loss(self.lin(x), y)
