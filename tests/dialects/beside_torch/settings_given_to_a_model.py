import torch
from torch import nn


class Inner(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        return self.drop(self.fc(x))


def build(cls, cfg, **kwargs):
    model = cls(**kwargs)
    model.pretrained_cfg = cfg
    model.default_cfg = model.pretrained_cfg
    return model


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.m = build(Inner, {"a": 1, "b": (2, 3)}, n=4)

    def forward(self, x):
        return self.m(x) * self.m.default_cfg["a"] + self.m.pretrained_cfg["b"][0]
