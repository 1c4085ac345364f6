# Where a window begins is counted from call to call.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.places = nn.Embedding(16, 4)
        self.register_buffer("mask", torch.ones(16, 16).triu(1), persistent=False)
        self.register_buffer("begin", torch.tensor(1))

    def forward(self, x, y):
        n = x.shape[0]
        places = torch.arange(self.begin, self.begin + n, device=x.device)
        hidden = self.mask.bool()[self.begin : self.begin + n, :4]
        self.begin = self.begin + n
        return self.places(places) * y + x.masked_fill(hidden, 0.5)
