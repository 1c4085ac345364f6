# Lists of layers that an expression gives.
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.between = [None] + [nn.ReLU()] * (len(self.down) - 1)
        self.between[-1] = nn.Tanh()
        self.last = self.make()[::-1]

    def make(self):
        return [nn.Softplus(), nn.Tanh()]

    def forward(self, x, y):
        for act, down in zip(self.between, self.down):
            x = x if act is None else act(x)
            x = down(x)
        for act in self.last:
            x = act(x)
        return x + y
