# A function of arrays, one of which comes from what nothing is known of.
from torch import nn


def conditioned(x, conditions, n):
    for t, val in conditions.items():
        x[:, t, n:] = val.clone()
    return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y, step=None):
        x = conditioned(x[None], {0: y[:1, 1:]}, 1)
        if step is not None:
            x, _ = step(self, x)
        x = conditioned(x, {1: y[:1, 2:]}, 2)
        return self.fc(x)
