from torch import nn


class Mlp(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        return self.drop(self.fc(x))

class Plain(nn.Module):
    def __init__(self, dim):
        super().__init__()

    def forward(self, x):
        return x * 2

class Normed(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.BatchNorm1d(dim)

    def forward(self, x):
        return self.norm(x)

class Block(nn.Module):
    def __init__(self, dim, layer=Mlp, last=True):
        super().__init__()
        self.body = layer(dim)
        self.end = layer(dim) if last else nn.Identity()

    def forward(self, x):
        return self.end(self.body(x))

class Again(nn.Module):
    def __init__(self, dim, layer=None):
        super().__init__()
        layer = layer or Mlp
        self.body = layer(dim)

    def forward(self, x):
        return self.body(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Block(4), Block(4, Plain)
        self.c = Block(4, layer=Normed, last=False)
        self.d, self.e = Again(4), Again(4, Plain)

    def forward(self, x, y):
        return self.a(x) + self.b(y) + self.c(x) + self.d(x) + self.e(y)
