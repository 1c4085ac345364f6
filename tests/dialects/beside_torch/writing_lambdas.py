from torch import nn


def zero(m):
    nn.init.zeros_(m.weight)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        fill = lambda m, value: nn.init.constant_(m.weight, value)
        fill(self.a, 0.5)
        for layer in (self.b,):
            fill(layer, 0.25)
        done = zero(self.c)

    def forward(self, x, y):
        add = lambda t: t.add_(1)
        x = self.a(x)
        add(x)
        return self.c(x) + self.b(y)
