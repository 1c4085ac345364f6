from torch import nn


class Chunk(nn.ModuleList):
    def __init__(self, n):
        super().__init__([nn.Linear(4, 4) for _ in range(n)])
        self.append(nn.Dropout(0.0))

    def forward(self, x):
        for i, b in enumerate(self):
            x = b(x) + i
        return x

class Seq(nn.Sequential):
    def forward(self, x, y):
        for b in self:
            if isinstance(b, Chunk):
                x = b(x + y)
            else:
                x = b(x)
        return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = Seq(Chunk(2), nn.Linear(4, 4))

    def forward(self, x, y):
        return self.blocks(x, y)
