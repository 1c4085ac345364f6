"""Tensors of float64 that have no dims do not widen float32 that has: by operators, in place, in
comparisons, of a buffer; where both have none, or an array is of whole numbers, they do."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor(3.0, dtype=torch.float64))

    def forward(self, x, y):
        a, b = (x * 8).round().float() / 8, (y * 8).round()
        t = torch.tensor(0.1, dtype=torch.float64)
        u = torch.ones((), dtype=torch.double) * 0.7
        total = a.abs().max().double()
        moved = a.clone()
        moved += t
        moved.mul_(self.scale)
        first = a[1] * 2
        first -= y.double()[1]
        return (
            (a * t, t + a, u - a[0], a / total, a * self.scale, a > t, a * t.item()),
            (torch.maximum(a, u), torch.clamp(a, t), torch.where(a > 0, a, u), torch.add(a, u.sqrt())),
            (a.max() * t, b.long() * t, b * t, a.half() + u, moved, first),
        )
