"""Plain dicts and lists whose modules are registered one by one, under names of their own."""

from torch import nn


class Walked(nn.Module):
    def __init__(self):
        super().__init__()
        self.ops = {"a": nn.Linear(4, 4), "b": nn.BatchNorm1d(4)}
        for k, v in self.ops.items():
            self.add_module(k, v)
        self.parts = {n: nn.Linear(4, 4) for n in ("c", "d")}
        for n in self.parts:
            self.add_module("part_" + n, self.parts[n])
        self.tails = {"e": nn.Linear(4, 4), "f": nn.Linear(4, 4)}
        for i, (_, tail) in enumerate(self.tails.items()):
            setattr(self, f"tail{i}", tail)

    def forward(self, x):
        for part in self.parts.values():
            x = part(x)
        return self.ops["b"](self.ops["a"](x)) + self.tails["e"](x) * self.tails["f"](x)


class Filled(nn.Module):
    def __init__(self):
        super().__init__()
        self.ops = {}
        self.norms = []
        for i in range(2):
            for j in range(2):
                self.ops[i, j] = nn.Linear(4, 4)
                nn.init.ones_(self.ops[i, j].bias)
                self.add_module(f"op_{i}_{j}", self.ops[i, j])
            self.norms.append(nn.BatchNorm1d(4))
            self.add_module(f"norm_{i}", self.norms[-1])
        for _, op in self.ops.items():
            nn.init.zeros_(op.bias)

    def forward(self, x):
        for i, norm in enumerate(self.norms):
            x = norm(self.ops[i, 0](x) * self.ops[i, 1](x))
        return x


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = {}
        for name, n in {"hm": 4, "wh": 4}.items():
            fc = nn.Sequential(nn.Linear(4, n), nn.Tanh())
            self.__setattr__(name, fc)
            self.heads[name] = fc
        self.rest = dict()
        self.rest["a"] = nn.Linear(4, 4)
        self.last = self.rest["a"]
        local = {"u": nn.Linear(4, 4), "v": nn.Linear(4, 4)}
        for k, v in local.items():
            self.add_module("local_" + k, v)
        self.local = local
        self.again = {}
        self.again["k"] = self.last

    def forward(self, x):
        z = {}
        for name in self.heads:
            z[name] = self.heads[name](x) + self.__getattr__(name)(x)
        return self.rest["a"](z["hm"]) + self.local["u"](z["wh"]) * self.again["k"](self.local["v"](x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.walked, self.filled, self.heads = Walked(), Filled(), Heads()

    def forward(self, x, y):
        return self.walked(x) + self.filled(y) + self.heads(x)
