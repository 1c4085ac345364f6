"""Modules of a model that plain dicts, lists and tuples name again, by locals of the constructor, by
`dict(...)`, nested, and by what walks over a container."""

from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        a, b = nn.Linear(4, 4), nn.Linear(4, 4)
        first = nn.Linear(4, 4)
        self.a, self.b = a, b
        self.first = first
        self.net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
        self.by_name = {"first": first, "net": self.net}
        self.again = dict(a=self.a, b=self.b)
        self.nested = {"pair": [self.a, first], "one": (first,)}
        self.parts = list(self.net.children())

    def forward(self, x, y):
        x = self.by_name["first"](x) + self.by_name["net"](y)
        for layer in self.nested["pair"]:
            x = layer(x)
        return self.again["b"](x) + self.again["a"](self.nested["one"][0](y)) + self.parts[1](x)
