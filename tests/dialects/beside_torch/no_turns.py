# Loops that have no turn: in one of the modes, or ever.
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(5, 4))
        self.register_buffer("u", torch.ones(5))
        self.none = nn.ModuleList([nn.Linear(4, 4) for _ in range(-1)])
        for i in range(-1):
            setattr(self, f"fc{i}", nn.Linear(4, 4))

    def forward(self, x, y):
        for layer in self.none:
            x = layer(x)
        u = self.u
        with torch.no_grad():
            for _ in range(1 if self.training else 0):
                v = F.normalize(torch.mv(self.w.t(), u), dim=0)
                u = F.normalize(torch.mv(self.w, v), dim=0)
            v = F.normalize(torch.mv(self.w.t(), u), dim=0)
            if self.training:
                self.u.copy_(u)
        return F.linear(x, self.w / torch.dot(u, torch.mv(self.w, v))) + y.sum()
