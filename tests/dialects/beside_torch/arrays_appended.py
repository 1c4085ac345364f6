# A list that arrays are put into while a model is built is data, also where it begins empty.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.shifts = []
        for i in range(n):
            self.shifts.append(torch.arange(4) * i)
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y):
        return self.fc(x + self.shifts[0]) + self.shifts[1] * y
