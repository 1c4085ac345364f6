from torch import nn


def run(f, x):
    return x if f is None else f(x)


class Block(nn.Module):
    def __init__(self, n, first):
        super().__init__()
        self.first, self.fc = first, nn.Linear(4, 4)
        if n > 0:
            self.norm = nn.LayerNorm(4)
            self.drop = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.0))

    def forward(self, x):
        norm = getattr(self, "norm", None)
        if norm is not None:
            x = norm(x)
        x = run(getattr(self, "drop", None), x) + run(self.fc if self.first else self.norm, x)
        return run(self.norm if hasattr(self, "norm") else None, x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = Block(0, True), Block(1, False), Block(1, True)

    def forward(self, x, y):
        return self.c(self.b(self.a(x))) + y
