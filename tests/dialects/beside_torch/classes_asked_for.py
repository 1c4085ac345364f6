import torch
from torch import nn
import functools
from typing import Generic, TypeVar

T = TypeVar("T", bound=nn.Module)


class Box(nn.Module, Generic[T]):
    def __init__(self, inner: T):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


class Deep(nn.Module):
    def __init__(self, n, depth=1):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.child = self.__class__(n, depth - 1) if depth else None

    @functools.cached_property
    def freqs(self):
        return torch.arange(4.0) / 4

    def forward(self, x):
        x = self.fc(x) * self.freqs
        return x if self.child is None else self.child(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.deep = Deep(4, 2)
        self.more = type(self.deep)(4, 0)
        self.box: Box[nn.Linear] = Box[nn.Linear](nn.Linear(4, 4))

    def forward(self, x):
        return self.deep(x) + self.more(x) * self.box(x)
