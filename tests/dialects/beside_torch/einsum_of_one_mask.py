"""einsum counts what holds in whole numbers, of one mask in a list under a name too."""

import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, y):
        mask = x > 0
        alone, both, grown = [mask], (x, y), []
        grown.append(x)
        grown.append(y)
        counts = torch.einsum("ij->i", alone), torch.einsum("ij->j", [mask])
        return x * 1, counts, torch.einsum("ij,kj->ik", both), torch.einsum("ij,ij->i", grown)
