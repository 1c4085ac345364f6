# Pieces of a size that a layer says, and of sizes that are written out; a dim that a number of
# pieces does not divide; pieces that stay a tuple.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, dim=4, heads=2):
        super().__init__()
        self.to_qkv = nn.Linear(dim, dim * heads * 3, bias=False)
        self.to_kv = nn.Conv1d(dim, out_channels=12, kernel_size=1)
        self.wide = nn.Linear(dim, 7)
        self.near, self.far = dim, 2

    def pair(self, x):
        return self.to_kv(x[..., None]).chunk(2, dim=1)

    def forward(self, x, y):
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: t[:, :4], qkv)
        a, b, c = self.wide(x).chunk(3, dim=-1)
        d, e = torch.split(qkv[0], [self.near, self.near], dim=1)
        f, g, h = self.wide(y).split((self.far, self.far, 3), dim=-1)
        l, m = self.to_kv(y[..., None]).chunk(2, dim=1)
        pair = self.pair(x) + (l, m)
        assert isinstance(pair, tuple)
        z = q * k + v + d * e + (l * m + pair[0] * pair[1] - pair[3]).sum((1, 2))[:, None]
        return z + (a * b).sum(1, keepdim=True) * c + (f * g).sum() + h.mean()
