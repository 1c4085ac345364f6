# Memories that begin as empty tensors in a method of their own, which torch.cat leaves out.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.n = n
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(n)])

    def init_mems(self):
        mems = []
        param = next(self.parameters())
        for i in range(self.n + 1):
            mems.append(torch.empty(0, dtype=param.dtype, device=param.device))
        return mems

    def step(self, x, mems=None):
        hiddens = [x]
        for i, layer in enumerate(self.layers):
            mem = None if mems is None else mems[i].to(x.device)
            rows = torch.cat([mem, x], 0) if mem is not None else x
            x = layer(rows)[-3:]
            hiddens.append(x)
        return x, hiddens

    def forward(self, x, y, *mems):
        if not mems:
            mems = self.init_mems()
        x, mems = self.step(x, mems)
        return self.step(y, mems)[0]
