# A loop that has no turn in one of the modes.
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(5, 4))
        self.register_buffer("u", torch.ones(5))

    def forward(self, x, y):
        u = self.u
        with torch.no_grad():
            for _ in range(1 if self.training else 0):
                v = F.normalize(torch.mv(self.w.t(), u), dim=0)
                u = F.normalize(torch.mv(self.w, v), dim=0)
            v = F.normalize(torch.mv(self.w.t(), u), dim=0)
            if self.training:
                self.u.copy_(u)
        return F.linear(x, self.w / torch.dot(u, torch.mv(self.w, v))) + y.sum()
