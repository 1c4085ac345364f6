# A method without a result that data may end; a function that draws, or torch's, by a flag.
import torch
import torch.nn.functional as F
from torch import nn


def uniform(*shape: int):
    t = torch.empty(shape)
    nn.init.kaiming_uniform_(t)
    return t


def shuffled(samples, n):
    return samples[torch.arange(n) % samples.shape[0]]


class Net(nn.Module):
    def __init__(self, n=4, zero=False, flag=True):
        super().__init__()
        make = uniform if not zero else torch.zeros
        embed = make(n, n)
        self.flag = flag
        self.fc = nn.Linear(4, 4)
        self.register_buffer("ready", torch.Tensor([not zero]))
        self.register_buffer("embed", embed)
        self.register_buffer("average", embed.clone())
        self.register_buffer("hits", torch.zeros(n))
        self.register_buffer("count", torch.zeros(()))

    def fill_(self, x):
        if self.ready:
            return
        self.embed.data.copy_(shuffled(x, 4))
        self.ready.data.copy_(torch.Tensor([True]))

    def note(self, x):
        if not self.flag:
            return
        if x.sum() > 0:
            self.count += 1
            if x.max() > 2:
                self.hits += 3
                return
            self.hits += 2
        else:
            self.hits += 1
            return
        self.count += 5

    def forward(self, x, y):
        self.fill_(x)
        self.note(x)
        self.note(y)
        self.average.add_(1)
        return F.linear(self.fc(x), self.embed) * y * self.hits + self.count + self.average.sum()
