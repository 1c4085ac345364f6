from typing import Optional

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, sep=False, win=True):
        super().__init__()
        self.pos: Optional[nn.Parameter] = None
        self.win: Optional[nn.Parameter] = None
        self.spatial: Optional[nn.Parameter] = None
        if sep:
            self.spatial = nn.Parameter(torch.zeros(4))
        else:
            if win:
                self.pos = nn.Parameter(torch.zeros(4))
                self.win = nn.Parameter(torch.zeros(4))
            else:
                self.pos = nn.Parameter(torch.zeros(1))
        self.fc = nn.Linear(4, 4)
        if sep:
            nn.init.trunc_normal_(self.spatial, std=0.02)
        else:
            if self.pos is not None:
                nn.init.trunc_normal_(self.pos, std=0.02)
            if self.win is not None:
                nn.init.trunc_normal_(self.win, std=0.02)

    def forward(self, x):
        pos = self.spatial if self.pos is None else self.pos
        if self.win is not None:
            pos = pos * self.win
        total = x.sum()
        for p in self.parameters():
            total = total * 0.5 + p.sum()
        return self.fc(x + pos) * total
