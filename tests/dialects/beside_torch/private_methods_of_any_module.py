# A method of one's own of a module of which only that is known: it is given the module's params.
import torch
from torch import nn


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def _layers(self, x, n=1):
        return [self.fc(x)] * n

    def forward(self, x):
        return self.fc(x)


def build(kind, **kwargs):
    return globals()[kind](**kwargs)


class Wrap(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model._layers(x, 2)[1] + self.model(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wrap = Wrap(build("Vit"))

    def forward(self, x, y):
        return self.wrap(x) + y
