# What a dict of arguments gives to a class may be any layer: one with a state, where None is usual.
from torch import nn


class SE(nn.Module):
    def __init__(self, d, act_layer=nn.ReLU, gate_layer=nn.Sigmoid):
        super().__init__()
        self.fc = nn.Linear(d, d)
        self.bn = nn.BatchNorm1d(d)
        self.act = act_layer()
        self.gate = gate_layer()

    def forward(self, x):
        return x * self.gate(self.act(self.bn(self.fc(x))))


class Block(nn.Module):
    def __init__(self, i, o, norm_layer=nn.BatchNorm1d, se_layer=None):
        super().__init__()
        self.c = nn.Linear(i, o)
        self.n = norm_layer(o)
        self.se = se_layer(o) if se_layer else nn.Identity()

    def forward(self, x):
        return self.se(self.n(self.c(x)))


class Other(nn.Module):
    def __init__(self, i, o, norm_layer=nn.BatchNorm1d, se_layer=None):
        super().__init__()
        self.c = nn.Linear(i, o)
        self.se = se_layer(o) if se_layer else nn.Identity()

    def forward(self, x):
        return self.se(self.c(x))


class Builder:
    def __init__(self, se_layer=SE):
        self.se_layer = se_layer
        self.i = 4

    def make(self, ba):
        kind = ba.pop("kind")
        ba["i"] = self.i
        if ba.pop("se"):
            ba["se_layer"] = self.se_layer
        self.i = ba["o"]
        return Block(**ba) if kind == "b" else Other(**ba)

    def __call__(self, args):
        return [self.make(dict(a)) for a in args]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        b = Builder()
        self.blocks = nn.Sequential(
            *b(
                [
                    dict(kind="b", o=5, se=True),
                    dict(kind="o", o=4, se=False),
                    dict(kind="o", o=4, se=True),
                ]
            )
        )

    def forward(self, x):
        return self.blocks(x)
