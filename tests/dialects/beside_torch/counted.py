# Numbers that one call leaves to the next decide, in another method or by a parameter too.
import torch
from torch import nn


def gate(x, step, after):
    if step > after:
        return torch.tanh(x)
    return x


class Warm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.register_buffer("mean", torch.zeros(4))
        self.started = False
        self.step = 0
        self.rate = 1.0

    def begin(self, x):
        self.mean.copy_(x.detach().mean(0))
        self.started = True

    def forward(self, x):
        if not self.training:
            return x
        if not self.started:
            self.begin(x)
        self.step += 1
        self.rate = self.rate * 0.5
        if self.step % 2 == 0:
            x = self.lin(x)
        self.width = x.shape[1]
        return gate(x - self.mean, self.step, 1).reshape(-1, self.width) * self.rate


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.warm, self.fc = Warm(), nn.Linear(4, 4)

    def forward(self, x, y):
        return self.warm(self.fc(x)) + y
