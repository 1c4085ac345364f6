from torch import nn


class Net(nn.Module):
    def __init__(self, x=False):
        super().__init__()
        self.a, self.b, self.head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        self.c = nn.Linear(4, 4, bias=False)
        self.b.weight = self.a.weight; self.head.weight = self.b.weight

    def forward(self, x, y):
        return self.head(self.c(self.a(x) + self.b(y)))
