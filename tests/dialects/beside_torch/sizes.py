import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.n = n
        self.c_attn = nn.Linear(n, 3 * n)
        self.conv = nn.Conv1d(3, 5, 1)
        self.start = nn.Parameter(torch.zeros(1, n))
        self.cls = nn.Parameter(torch.randn(1, 1, n))
        self.bound = nn.Parameter(torch.tensor([0.0, -0.5, 0.5, 0.25]))

    def forward(self, x, y):
        x = torch.stack([x, y])
        b, t, c = x.size()
        q, k, v = self.c_attn(x).split(self.n, dim=2)
        h = self.start.expand(b, -1)
        cls = self.cls.expand(b, t, -1)
        two = torch.split(x, [1, 1], dim=0)
        assert isinstance(two, tuple)
        flat = self.conv(x).flatten(1), torch.flatten(self.conv(x), 1, 2), self.conv(x).flatten(-2, -1)
        w = self.start.expand(x.shape[:-1] + (c,))
        gate, shift = (q * k).chunk(2, dim=-1)
        dots = gate * shift
        limit = -torch.finfo(dots.dtype).max
        dots = dots.masked_fill(dots > 0, limit).clamp(min=-1e3)
        mask = dots > 0
        mask = F.pad(mask, (1, 0), value=True)
        padded = F.pad(dots, (1, 2, 0, 1), value=0.5) + F.pad(x, (0, 1, 1, 0), mode="replicate").sum()
        ints = (mask.sum(-1) * 0.5).to(torch.int32).clamp(min=1)
        kept = self.bound.clamp(min=0.0) + self.bound.clamp(max=0.5) + (self.bound * 2).clamp(-1, 1)
        p = torch.cumprod(torch.cat([x, x], -1), -1)
        z = (v + w + cls + h[:, None]) * kept
        return z, *flat, padded, ints.to(x.dtype), p, two[1]
