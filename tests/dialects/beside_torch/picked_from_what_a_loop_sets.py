"""What is picked from is as large as its index, though a loop sets it; and not where it is set between."""

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def forward(self, x, y):
        z = x[..., None] * y[:, None]
        for _ in range(2):
            z = torch.tanh(z)
        ids = torch.arange(2).view(1, 2, 1).repeat(z.size(0), 1, 1, z.size(2))
        ids = ids.view(z.size(0), -1, z.size(2))
        picked = torch.gather(z, 1, ids)
        n = z.size(0)
        for _ in range(2):
            z = torch.cat([z, z])
        fewer = torch.arange(2).view(1, 2, 1).repeat(n, 1, z.size(2))
        return picked * torch.gather(z, 1, fewer)
