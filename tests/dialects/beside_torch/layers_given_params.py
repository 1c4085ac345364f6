# Layers that are given other weights, under the word by which calls give them their own.

import torch.nn.functional as F
from torch import nn


class Meta(nn.Module):
    pass


class Lin(nn.Linear, Meta):
    def forward(self, x, params=None):
        w = self.weight if params is None else params["weight"]
        return F.linear(x, w)


class Seq(nn.Sequential, Meta):
    def forward(self, input, params=None):
        for name, module in self._modules.items():
            if isinstance(module, Meta):
                input = module(input, params=None if params is None else params[name])
            elif isinstance(module, nn.Module):
                input = module(input)
            else:
                raise TypeError("no module")
        return input


class Block(Meta):
    def __init__(self):
        super().__init__()
        self.net = []
        self.net.append(Seq(Lin(4, 4), nn.ReLU()))
        for i in range(2):
            self.net.append(Seq(Lin(4, 4), nn.ReLU()))
        self.net = Seq(*self.net)

    def forward(self, x, params=None):
        return self.net(x, params=None if params is None else params["net"])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Block()

    def forward(self, x, y):
        w = {"weight": y.t() @ y}
        return self.a(x, params={"net": {"0": {"0": w}, "1": {"0": w}, "2": {"0": w}}}), self.a(x)
