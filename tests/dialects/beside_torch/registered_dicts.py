# What monocular depth networks do: a dict of modules that a list registers, and one of results.
import torch
from torch import nn
from collections import OrderedDict


class ConvBlock(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)

    def forward(self, x):
        return torch.tanh(self.fc(x))


class Decoder(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.scales = range(2)
        self.convs = OrderedDict()
        for i in range(2, -1, -1):
            self.convs["upconv", i, 0] = ConvBlock(4, 4)
            self.convs["upconv", i, 1] = ConvBlock(4, 4)
        for s in self.scales:
            self.convs["dispconv", s] = nn.Linear(4, 4)
        self.decoder = nn.ModuleList(list(self.convs.values()))
        self.sigmoid = nn.Sigmoid()

    def forward(self, x):
        self.outputs = {}
        for i in range(2, -1, -1):
            x = self.convs["upconv", i, 0](x)
            x = self.convs["upconv", i, 1](x)
            if i in self.scales:
                self.outputs["disp", i] = self.sigmoid(self.convs["dispconv", i](x))
        return self.outputs


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.d = Decoder()
        self.convs = {}
        self.convs[0] = nn.Linear(4, 4)
        self.convs[1] = nn.Linear(4, 4)
        self.num_convs = len(self.convs)
        self.net = nn.ModuleList(list(self.convs.values()))
        self.parts = {"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)}
        self.rest = nn.ModuleList(self.parts.values())

    def forward(self, x, y):
        for i in range(self.num_convs):
            x = self.convs[i](x)
        for name in ("b", "c"):
            if name in self.parts:
                x = self.parts[name](x)
        for name, part in self.parts.items():
            x = part(x) * len(name)
        for part in self.parts.values():
            x = part(x)
        o = self.d(x)
        return o["disp", 0] + o[("disp", 1)] + y
