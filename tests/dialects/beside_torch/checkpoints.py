from torch import nn
import torch.utils.checkpoint as cp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.0))
        self.plain = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.0)

    def impl(self, x, y):
        return self.plain(x) + self.drop(y)

    def forward(self, x, y):
        x = cp.checkpoint(self.block, x, use_reentrant=False)
        x = cp.checkpoint(self.plain, x, use_reentrant=False)
        return cp.checkpoint(self.impl, x, y, use_reentrant=False)
