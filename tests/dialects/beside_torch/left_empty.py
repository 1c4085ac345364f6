from torch import nn


class Block(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        if kind == "layer":
            self.norm = nn.LayerNorm(4)
        elif kind == "batch":
            self.norm = nn.GroupNorm(2, 4)
        elif kind == "none":
            self.norm = nn.Sequential()

    def forward(self, x):
        return self.norm(self.fc(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = Block("layer"), Block("batch"), Block("none")
        self.skip = nn.Sequential() if x_is_wide() else nn.Linear(4, 4)
        self.more = nn.Sequential()
        self.more.append(nn.Linear(4, 4))
        self.down = nn.Sequential(nn.Linear(4, 4), self.a.norm)
        self.end = nn.Sequential()

    def forward(self, x, y):
        x, y = self.skip(x), self.more(y)
        return self.end(self.a(x) + self.b(y) + self.c(x)) + self.down(x)


def x_is_wide():
    return False
