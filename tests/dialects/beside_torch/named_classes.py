# Classes by names that only the run tells, built by a function too.
import torch
from torch import nn


class Conv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.fc = nn.Linear(i, o)

    def forward(self, x):
        return torch.tanh(self.fc(x))


class Bottleneck(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.cv = Conv(i, o)

    def forward(self, x):
        return self.cv(x)


def parse(d, ch):
    layers = []
    for name, args in d:
        m = eval(name) if isinstance(name, str) else name
        c1, c2 = ch[-1], args[0]
        m_ = nn.Sequential(*(m(c1, c2) for _ in range(1))) if c1 == c2 else m(c1, c2)
        layers.append(m_)
        ch.append(c2)
    return nn.Sequential(*layers), ch


class Net(nn.Module):
    def __init__(self, d=(("Conv", [4]), ("Bottleneck", [5])), kind="Conv"):
        super().__init__()
        self.model, self.ch = parse(d, [4])
        self.last = globals()[kind](5, 4)

    def forward(self, x, y):
        return self.last(self.model(x)) + y * len(self.ch)
