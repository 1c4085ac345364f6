# A number is stored into slices of which only the data tell the ends: masks by lengths.

import torch
from torch import nn


def mask_of(lengths, size):
    mask = torch.ones(lengths.size(0), 1, size)
    for i in range(lengths.size(0)):
        mask[i, :, lengths[i] :] = 0
    return mask


class Net(nn.Module):
    def forward(self, x, y):
        lengths = (y[:, 0] > 0).long() + 2
        square = torch.zeros(3, 4, 4, dtype=torch.bool)
        for i, n in enumerate(lengths):
            square[i, :n, :n] = 1
        count = (y > 0).sum() // 5
        z = x * 2
        z[:, -count:] += 1
        z[..., :count] *= 0.5
        z[count : count + (y > 1).sum()] = -1.0
        z[:, 9 - count :] = 7
        return x[:, None] * square, x[:, None] * mask_of(lengths, 4), z
