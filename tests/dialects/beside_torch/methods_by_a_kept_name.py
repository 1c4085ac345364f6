from torch import nn


class Net(nn.Module):
    def __init__(self, which="run_norm"):
        super().__init__()
        self.which = which
        self.norm = nn.BatchNorm1d(4)
        self.fc = nn.Linear(4, 4)

    def run_norm(self, x):
        return self.norm(x)

    def run_fc(self, x):
        return self.fc(x)

    def forward(self, x, y):
        for name in ("norm", "fc"):
            x = getattr(self, "run_" + name)(x)
        return getattr(self, self.which)(y) + x
