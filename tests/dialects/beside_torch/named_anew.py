# What is left of a move to a device, beside state and a key.
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x, y=None):
        if y is not None:
            y = y
        return F.dropout(self.norm(x) * y, 0.5, self.training and y is None)
