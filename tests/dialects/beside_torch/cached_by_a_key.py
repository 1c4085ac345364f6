# A key that is kept under a name distinguishes all that it is made of.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.masks, self.tables = {}, {}
        self.fc = nn.Linear(4, 4)

    def mask(self, n, m):
        key = f"{n}_{m}"
        if key not in self.masks:
            self.masks[key] = torch.tril(torch.ones(n, m, dtype=torch.float64))
        return self.masks[key]

    def table(self, n, m):
        key = (n, m)
        if key in self.tables:
            return self.tables[key]
        table = torch.arange(n * m, dtype=torch.float64).view(n, m)
        self.tables[key] = table
        return table

    def forward(self, x, y):
        return self.fc(x) * self.mask(x.shape[0], x.shape[1]) + y * self.table(*x.shape)
