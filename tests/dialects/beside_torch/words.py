from torch import nn


class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, key, value, state=None):
        if state is not None:
            key = key + state
        return self.lin(key) * value, state


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attend = Attend()
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)

    def forward(self, x, state):
        out, key = self.attend(x, state, state=x)
        if out.sum() > 0:
            state = state + 1
            out = self.norm(out)
        return self.drop(out) + key * state
