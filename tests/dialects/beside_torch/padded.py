# Tensors of one size that say how far to pad.
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x, y):
        x = self.fc(x)[1:]
        d = torch.tensor([y.size()[1] - x.size()[1]])
        e = torch.tensor(y.shape[0] - x.shape[0])
        m = (4 - e % 4) % 4
        return F.pad(x, [d // 2, d - d // 2, e // 2, e - e // 2]) * y, F.pad(y, (0, m))
