# A container of torch's with a forward pass of its own, that calls its items by their numbers.
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)

    def forward(self, x):
        return {"a": self.norm(self.fc(x)), "b": x}


class Joiner(nn.Sequential):
    def __init__(self, backbone, position):
        super().__init__(backbone, position)
        self.channels = 4

    def forward(self, x):
        found = self[0](x)
        return [self[1](y) for _, y in sorted(found.items())]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Joiner(Backbone(), nn.Linear(4, 4))

    def forward(self, x, y):
        a, b = self.body(x)
        return a * y + b
