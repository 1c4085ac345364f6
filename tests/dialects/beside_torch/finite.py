from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        s = self.fc(x)
        ok = s.isfinite()
        s[~ok] = s[ok].min()
        return s + y
