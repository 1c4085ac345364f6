import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, momentum=0.5):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("low", torch.zeros(()))
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        x = self.fc(x)
        low = x.detach().min()
        if self.low == 0:
            self.low += low
        elif self.momentum == -1:
            self.low = torch.min(self.low, low)
        else:
            # moving
            self.low = self.low * self.momentum + low * (1 - self.momentum)
        return x * self.low + y
