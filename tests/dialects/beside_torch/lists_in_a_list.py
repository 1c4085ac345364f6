# Lists of modules in a list that grow by an operator, and become containers at the end.
from torch import nn


class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        blocks = []
        self.rows = []
        for i in range(n):
            blocks += [[nn.Linear(4, 4)]]
            self.rows += [[nn.Linear(4, 4)]]
            if i == 1:
                blocks[-1].append(nn.BatchNorm1d(4))
                self.rows[-1] += [nn.Tanh()]
        self.blocks = nn.ModuleList([nn.ModuleList(block) for block in blocks])
        self.rows = nn.ModuleList([nn.Sequential(*row) for row in self.rows])

    def forward(self, x, y):
        for index, blocks in enumerate(self.blocks):
            for block in blocks:
                x = block(x) + index
        for row in self.rows:
            y = row(y)
        return x * y
