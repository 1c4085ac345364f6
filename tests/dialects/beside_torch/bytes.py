# Sums of bytes are signed: what is taken from them may be negative.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        mask = (y > 0).byte()
        places = mask.cumsum(1) - 2 + mask.cumprod(dim=1) - torch.prod(mask + 1, 1, keepdim=True)
        return self.fc(x) * places + (mask.sum(1) - 5)[:, None] + torch.sum(mask) - 20
