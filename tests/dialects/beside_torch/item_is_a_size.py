import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, levels=(3, 2)):
        super().__init__()
        self.register_buffer("levels", torch.tensor(levels, dtype=torch.int32), persistent=False)
        self.size = self.levels.prod().item()
        codes = self.codes(torch.arange(self.size))
        self.register_buffer("book", codes, persistent=False)

    def codes(self, i):
        return i[:, None] % self.levels

    def forward(self, x, y):
        every = torch.arange(self.size)
        return x * self.book.sum() + y * every.sum()
