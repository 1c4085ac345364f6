import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        h = torch.empty(3, 4, dtype=x.dtype)
        with torch.no_grad():
            torch.add(x, y * 2, out=h)
            torch.mul(h, self.fc(x), out=h)
        return self.fc(x) + h
