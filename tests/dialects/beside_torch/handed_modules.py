"""One embedding that an encoder and a decoder are built with, and keep: its params stand in one place."""

import torch
from torch import nn


class Embedding(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.word = nn.Linear(n, n)
        self.norm = nn.LayerNorm(n)

    def forward(self, x):
        return self.norm(self.word(x))


class Holder(nn.Module):
    def __init__(self, n, emb):
        super().__init__()
        self.emb = emb
        self.f = nn.Linear(n, n)


class Trunk(Holder):
    def __init__(self, n, emb):
        super().__init__(n, emb)
        self.scale = n

    def forward(self, x):
        return self.f(self.emb(x)) * self.scale


class Body(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.shared = Embedding(n)
        self.encoder = Trunk(n, self.shared)
        self.decoder = Trunk(n, emb=self.shared)

    def forward(self, x, y):
        return self.encoder(x) + self.decoder(y) * self.decoder.emb.norm.weight


class Head(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x).tanh()


class Local(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        layer = nn.Linear(n, n)
        self.first = Head(layer)
        self.second = Head(layer)

    def forward(self, x):
        return self.second(self.first(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.local = Body(), Local()
        self.apply(self._init)

    def _init(self, m):
        if isinstance(m, nn.Linear):
            nn.init.constant_(m.weight, 0.5)
            nn.init.zeros_(m.bias)

    def forward(self, x, y):
        return self.local(self.body(x, y))
