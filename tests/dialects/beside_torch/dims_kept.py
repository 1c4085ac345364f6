import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x, y):
        z = torch.stack([x, y], 1)  # 3, 2, 4
        a = z[:, 0, :].unsqueeze(1).repeat(1, 5, 1)
        b = z[:, -1, :].unsqueeze(1)
        c = z[:, 1].unsqueeze(1)
        d = z[:, 1].unsqueeze(0)
        e = z[:, 1].unsqueeze(2)
        f = z[0, :, 1].unsqueeze(0)
        g = z[1, :, 2].unsqueeze(1)
        h = z[1:, :, 2].unsqueeze(1)
        i = z[:, 1, 2].unsqueeze(1)
        j = z[:, -2, 1:3].unsqueeze(1)
        k = z[0, 1, :].unsqueeze(0)
        l = z[:, 1, :].unsqueeze(-1)
        xs = [x, y]
        m = xs[0].unsqueeze(1)
        n = z[..., 0].unsqueeze(1)
        o = z[:, 1, :].unsqueeze(1).unsqueeze(1)
        return [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o]
