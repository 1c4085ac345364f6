import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    rate: float = 0.0

    def forward(self, x, y):
        return F.dropout(x, self.rate, self.training) * (2 if self.training else 1) + y
