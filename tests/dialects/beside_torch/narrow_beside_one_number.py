# A tensor without dims does not widen an array of its own kind.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("scale", torch.tensor(1.25, dtype=torch.float32))
        self.s = nn.Parameter(torch.ones([]) * 1.5)

    def forward(self, x, y):
        h, t = x.half(), (y > 0).float().sum() / 4 + 1.5
        u, n = (y.abs() * 80).to(torch.uint8), torch.tensor(300) - 1
        halves = h * t, t - h, h * self.scale, x.half() + t, (h + 1) * self.scale, h.mul(t), torch.where(h > 0, h, t)
        most = x.abs().float().ceil().max()
        halves += h + most.item(), torch.minimum(h, most), h - h.max(), h * self.s.float().ceil(), h * t.double()
        whole = u - n, u + u.sum(), u.max() - u, u // n, u / n, u * t
        near = h.max().float() + 1e-6  # which is the half itself, once it is a half
        halves += h == near, near <= h, torch.eq(h, near), h.lt(near), torch.relu(h) * 1 > near
        return self.fc(x) * self.s / y.mean(), [v.double() for v in (*halves, *whole)]
