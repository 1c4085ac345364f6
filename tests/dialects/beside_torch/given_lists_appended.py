from torch import nn


class Enc(nn.Module):
    def __init__(self, blocks=None):
        super().__init__()
        self.n = 0
        self.blocks = nn.ModuleList()
        if blocks is not None:
            for b in blocks:
                self.blocks.append(b)
                self.n += 1

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x * self.n


class Net(nn.Module):
    def __init__(self, n=4, distil=True):
        super().__init__()
        self.a = Enc([nn.Linear(n, n), nn.Linear(n, n)])
        self.b = Enc()

    def forward(self, x, y):
        return self.b(self.a(x))
