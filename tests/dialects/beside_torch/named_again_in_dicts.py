"""Layers that plain dicts and lists of the model name again: by keys, by a walk, and out of what
other layers hold."""

from torch import nn


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.heads = {"a": self.a, "b": self.b}
        self.part = Part()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
        self.below = [self.part.fc]
        self.ends = {"first": self.net[0], "last": self.net[2]}
        self.between = [self.net[1]]

    def forward(self, x, y):
        for name in ("a", "b"):
            x = self.heads[name](x)
        for name, layer in self.heads.items():
            y = layer(y) * len(name)
        for layer in self.ends.values():
            x = layer(x)
        for layer in self.between:
            y = layer(y)
        return self.ends["last"](x) + self.below[0](y)
