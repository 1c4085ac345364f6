# A partial with self has its params and state where it is called.
from torch import nn
from functools import partial


def step(self, x, y, k):
    return self.norm(self.fc(x)) * k + y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.fc = nn.BatchNorm1d(4), nn.Linear(4, 4)

    def forward(self, x, y):
        run = partial(step, self, k=2)
        return run(x, y) + run(y, x, k=3)
