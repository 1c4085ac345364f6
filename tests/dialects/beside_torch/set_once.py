import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        if not hasattr(self, "cache"):
            self.cache = torch.ones(4) * 2
        return self.fc(x) * y + self.cache
