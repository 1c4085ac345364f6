# Lists of modules are handed to what goes over them, counts and indexes them, or maps over them.
import torch
from torch import nn
import functools


def multi_apply(func, *args, **kwargs):
    run = functools.partial(func, **kwargs) if kwargs else func
    return tuple(map(list, zip(*map(run, *args))))


def chain(x, layers):
    for layer in layers:
        x = layer(x)
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.loc = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])
        self.conf = nn.ModuleList([nn.Linear(4, 3), nn.Linear(4, 3)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(4), nn.BatchNorm1d(4)])
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)})

    def boxes(self, features, locs, confs):
        return [torch.cat([l(f), c(f)], 1) for f, l, c in zip(features, locs, confs)]

    @staticmethod
    def normed(x, norms, scale=1.0):
        for i in range(len(norms)):
            x = norms[i](x) * scale
        return x

    def both(self, x, heads):
        return heads["a"](x) + sum([h(x) for _, h in heads.items()])

    def single(self, x, loc, conf, scale=1.0):
        return loc(x) * scale, conf(x)

    def forward(self, x, y):
        x = self.normed(x, self.norms, scale=2.0) + self.both(y, self.heads)
        x = chain(x, [self.heads["b"], self.norms[0]]) + chain(y, self.norms[:1])
        locs, confs = multi_apply(self.single, [x, y], self.loc, self.conf, scale=3.0)
        return self.boxes([x, y], self.loc, self.conf) + locs + confs
