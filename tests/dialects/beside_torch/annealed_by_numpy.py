# A number that calls write is an array, which NumPy cannot take.
from torch import nn
import numpy as np


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.temp = 2.0

    def forward(self, x, y):
        if self.training:
            self.temp = np.maximum(self.temp * np.exp(-0.1), 0.5)
        return self.fc(x) / self.temp + y * np.sqrt(self.temp)
