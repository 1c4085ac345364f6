# parse is handed a dict that only the constructor knows: what is in it is no tensor.
import torch
from torch import nn
from copy import deepcopy

try:
    autocast = torch.cuda.amp.autocast
except AttributeError:

    class autocast:
        def __init__(self, enabled):
            pass


SPEC = {"backbone": [[1, [4, "2 + 2"]]], "head": [[2, [4, 4]]]}


def parse(d, ch):
    layers = []
    for i, (n, args) in enumerate(d["backbone"] + d["head"]):
        for j, a in enumerate(args):
            args[j] = eval(a) if isinstance(a, str) else a
        layers += [nn.Linear(*args) for _ in range(n)]
    return nn.Sequential(*layers)


class Net(nn.Module):
    def __init__(self, spec=SPEC):
        super().__init__()
        self.net = parse(deepcopy(spec), 4)

    def forward(self, x, y):
        with autocast(enabled=False):
            return self.net(x) + y
