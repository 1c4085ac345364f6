# A list that is said to be of modules holds those that the project gives.
from typing import List, Optional

import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return torch.tanh(self.fc(x))


class Mixture(nn.Module):
    def __init__(self, experts: List[nn.Module], gate: nn.Module, norms: Optional[List[nn.Module]] = None):
        super().__init__()
        assert len(experts) > 0
        self.experts = nn.ModuleList(experts)
        self.gate = gate
        self.norms = nn.ModuleList(norms) if norms is not None else None

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            out = out + weights[:, i : i + 1] * expert(x)
        if self.norms is not None:
            for norm in self.norms:
                out = norm(out)
        return out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.plain = Mixture(experts=[Expert() for _ in range(2)], gate=nn.Linear(4, 2))
        self.normed = Mixture([Expert(), Expert()], nn.Linear(4, 2), [nn.BatchNorm1d(4), nn.LayerNorm(4)])

    def forward(self, x, y):
        return self.normed(self.plain(x) + y)
