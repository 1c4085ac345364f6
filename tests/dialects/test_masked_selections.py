"""Masks under jit, beside torch: reductions of what they select, stores, layers of chosen rows.
Where the mask is not, inputs hold NaN and infinity, which no value and no gradient may show."""

import pytest
import torch

from .verified import verify

PROGRAM = """
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.gate = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 3))
        self.loss = nn.MSELoss(reduction="sum")

    def forward(self, x, y):
{body}
"""

BODIES = {
    "reductions": """
        valid = torch.isfinite(y)
        p = self.fc(x)
        d = (p - y)[valid]
        n = d.numel()
        losses = F.smooth_l1_loss(p[valid], y[valid]) + self.loss(p[valid], y[valid])
        if n > 0:
            losses = losses + (d ** 2).sum() / n
        return losses, d.std(), (p[valid] / (y[valid] + 3)).sum(), d.abs().log().mean()""",
    "stores": """
        p, m = self.fc(x), y > 0
        z = p * 1
        z[m] = 0
        z[:, :1][y[:, :1] > 0] += 2
        w = p.clone()
        w[m] = w[m] / y[m]
        w[~m & torch.isfinite(y)] -= 1
        w[y.isnan().any(1)] = torch.ones(3, dtype=p.dtype)
        v = p * 2
        v[m] *= y[m].sqrt()
        v[p.sum(1) > 0] **= 2
        return z, w, v""",
    "rows": """
        rows = torch.isfinite(y).all(1)
        out = torch.zeros_like(x)
        out[rows] = self.gate(y[rows]) + self.fc(x)[rows]
        weight = x[:, 0] * 2
        out[rows] += weight[rows].unsqueeze(-1) * y[rows]
        labels = torch.arange(len(x)) % 3
        return out, F.cross_entropy(self.fc(y)[rows], labels[rows], label_smoothing=0.1)""",
}


@pytest.mark.parametrize("target", ["flax", "equinox"])
@pytest.mark.parametrize("name", BODIES)
def test_beside_torch(name, target):
    torch.manual_seed(0)
    x, y = torch.randn(5, 3, dtype=torch.float64), torch.randn(5, 3, dtype=torch.float64)
    y[1, 1:], y[3, 0] = float("nan"), float("inf")
    if name == "stores":
        y[3, 0] = 0.0
    verify(PROGRAM.format(body=BODIES[name].lstrip("\n")), "Net", "", [x, y], target)
