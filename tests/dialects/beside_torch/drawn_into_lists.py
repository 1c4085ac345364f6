# What lists are filled with is drawn, and one array is made of it.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        tables = []
        noise = []
        layers = []
        for n in (1, 2):
            table = torch.empty(n, d)
            nn.init.trunc_normal_(table, std=0.02)
            tables.append(table)
            layers.append(nn.Linear(d, d))
            noise.append(torch.rand(n, d))
        self.layers = nn.ModuleList(layers)
        self.table = nn.Parameter(torch.cat(tables))
        self.register_buffer("noise", torch.cat(noise))

    def forward(self, x, y):
        return self.layers[1](self.layers[0](x)) * self.table[2] + y + self.noise[2]
