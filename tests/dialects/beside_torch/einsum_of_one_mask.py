"""einsum counts what holds in whole numbers, of one mask in a list under a name, and of one that is spread, too."""

import torch
from torch import nn


class Net(nn.Module):
    def counted(self, *operands):
        return torch.einsum("ij->i", *operands)

    def forward(self, x, y):
        mask = x > 0
        alone, both, grown = [mask], (x, y), []
        grown.append(x)
        grown.append(y)
        counts = torch.einsum("ij->i", alone), torch.einsum("ij->j", [mask])
        counts += torch.einsum("ij->i", *alone), self.counted(mask), self.counted(x)
        return x * 1, counts, torch.einsum("ij,kj->ik", both), torch.einsum("ij,ij->i", grown)
